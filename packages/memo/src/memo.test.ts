import fc from "fast-check"
import { expect, test } from "vitest"
import { createMemo } from "./index.ts"

test("what is kept stays within its bounds, and what was asked for last stays longest", () => {
  const key = fc.constantFrom("a", "b", "c", "d")
  const step = fc.oneof(
    fc.record({ key, size: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ key, get: fc.constant(true) }),
    fc.record({ key, delete: fc.constant(true) }),
  )
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const memo = createMemo<number>({ maxEntries: 3, maxSize: 8, sizeOf: (size) => size })
      // The same, as simply as it can be said: pairs, the last used at the end.
      let model: [string, number][] = []
      for (const given of steps) {
        const known = model.find(([name]) => name === given.key)
        const others = model.filter(([name]) => name !== given.key)
        if ("get" in given) {
          expect(memo.get(given.key)).toBe(known?.[1])
          if (known !== undefined) model = [...others, known]
        } else if ("delete" in given) {
          memo.delete(given.key)
          model = others
        } else {
          memo.set(given.key, given.size)
          model = [...others, [given.key, given.size]]
          while (model.length > 3 || model.reduce((sum, [, size]) => sum + size, 0) > 8) model.shift()
        }
      }
      expect(["a", "b", "c", "d"].map((name) => memo.get(name))).toEqual(
        ["a", "b", "c", "d"].map((name) => model.find(([known]) => known === name)?.[1]),
      )
      memo.clear()
      expect(memo.get("a")).toBeUndefined()
    }),
    { numRuns: 500 },
  )
})
