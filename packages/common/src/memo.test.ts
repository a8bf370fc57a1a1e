import fc from "fast-check"
import { expect, test } from "vitest"
import { createMemo } from "./memo.ts"

const keys = ["a", "b", "c", "d", "e", "f"]
const key = fc.constantFrom(...keys)
const use = fc.oneof(
  fc.record({ key, size: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ key, get: fc.constant(true) }),
)
const step = fc.oneof(use, fc.record({ key, delete: fc.constant(true) }))

const [maxEntries, maxSize] = [6, 10]
const half = { entries: maxEntries / 2, size: maxSize / 2 }

const create = () => createMemo<number>({ maxEntries, maxSize, sizeOf: (size) => size })
const run = (memo: ReturnType<typeof create>, given: typeof step extends fc.Arbitrary<infer T> ? T : never): void => {
  if ("get" in given) memo.get(given.key)
  else if ("delete" in given) memo.delete(given.key)
  else memo.set(given.key, given.size)
}

test("what is kept is what was set last, within the bounds, until it is deleted", () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const memo = create()
      const set = new Map<string, number>()
      for (const given of steps) {
        run(memo, given)
        if ("delete" in given) set.delete(given.key)
        else if ("size" in given) set.set(given.key, given.size)
      }
      // A look-up may drop others, but brings none in.
      const held = keys.flatMap((name) => {
        const size = memo.get(name)
        return size === undefined ? [] : [{ name, size }]
      })
      for (const { name, size } of held) expect(size).toBe(set.get(name))
      expect(held.length).toBeLessThanOrEqual(maxEntries)
      expect(held.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(maxSize)
      memo.clear()
      expect(keys.map((name) => memo.get(name)).filter((size) => size !== undefined)).toEqual([])
    }),
    { numRuns: 500 },
  )
})

test("what was asked for stays while fewer and smaller others than half of the bounds are", () => {
  const others = fc.array(use).filter((uses) => {
    const size = uses.reduce((sum, given) => sum + ("size" in given ? given.size : half.size), 0)
    return new Set(uses.map((given) => given.key)).size < half.entries && size <= half.size
  })
  fc.assert(
    fc.property(fc.array(step), others, (steps, uses) => {
      const memo = create()
      for (const given of steps) run(memo, given)
      memo.set("mine", 3)
      for (const given of uses) run(memo, given)
      expect(memo.get("mine")).toBe(3)
    }),
    { numRuns: 500 },
  )
})

test("where most keys come once, a value is kept from the second time on that its key is set", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 20 }), (texts) => {
      const memo = createMemo<number>({ fromSecondTime: true })
      for (const text of texts) {
        expect(memo.set(text, 1)).toBe(1)
        expect(memo.get(text)).toBeUndefined()
        expect(memo.set(text, 2)).toBe(2)
        expect(memo.get(text)).toBe(2)
        memo.delete(text)
        expect(memo.get(text)).toBeUndefined()
      }
    }),
  )
})

test("keys that come once drive nothing out", () => {
  const memo = createMemo<number>({ maxEntries: 4, fromSecondTime: true })
  for (let i = 0; i < 2; i++) memo.set("mine", 1)
  for (let i = 0; i < 100; i++) memo.set(`other ${i}`, i)
  expect(memo.get("mine")).toBe(1)
})
