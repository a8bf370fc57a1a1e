import fc from "fast-check"
import { expect, test } from "vitest"
import { parseExactly, writeExactly } from "./exact-json.ts"
import { duplicateKey, hasMoreValues, isDeeper, sourceAt } from "./json-text.ts"

test("a number that a double would change keeps its text; every other becomes a number", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }), fc.json(), (big, other) => {
      const read = parseExactly(`[${big},{"deep":${big}},${other}]`, (source) => source)
      const value = Number.isSafeInteger(Number(big)) ? Number(big) : String(big)
      const expected = JSON.parse(`[${other}]`, (_key, item: unknown) =>
        typeof item === "number" && !Number.isSafeInteger(item) ? expect.any(String) : item,
      ) as unknown[]
      expect(read).toEqual([value, { deep: value }, ...expected])
    }),
  )
})

test("a bigint is written as a number with all its digits, and read back", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
      const text = writeExactly({ value })
      expect(text).toBe(`{"value":${value}}`)
      expect(parseExactly(text, BigInt)).toEqual({ value: Number.isSafeInteger(Number(value)) ? Number(value) : value })
    }),
  )
})

test("a duplicate key is found at any depth and in any escaping", () => {
  fc.assert(
    fc.property(fc.string(), fc.json(), fc.nat(4), (key, value, depth) => {
      const inner = `{"x${key.length}":[],${JSON.stringify(key)}:${value}, ${JSON.stringify(key)} :1}`
      expect(duplicateKey(`${'[{"a":'.repeat(depth)}${inner}${"}]".repeat(depth)}`)).toBe(key)
    }),
  )
  expect(duplicateKey(String.raw`{"ab":1,"\u0061b":2}`)).toBe("ab")
  expect(duplicateKey(String.raw`{"a\"":1,"a\\":{"a":1},"a":["a","a"]}`)).toBeUndefined()
})

const character = fc.oneof(
  fc.constantFrom('"', "\\", "{", "[", ",", ":"),
  fc.nat(0xffff).map((unit) => String.fromCharCode(unit)),
)

test("no valid JSON value is reported to have a duplicate key", () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: character }), (text) => {
      expect(duplicateKey(JSON.stringify(JSON.parse(text)))).toBeUndefined()
    }),
  )
})

/** Members and elements as `hasMoreValues` counts them: an empty container as one. */
const count = (value: unknown): number =>
  typeof value !== "object" || value === null
    ? 0
    : Math.max(
        1,
        Object.values(value).reduce<number>((sum, item) => sum + 1 + count(item), 0),
      )

const depthOf = (value: unknown): number =>
  typeof value !== "object" || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf))

test("values and levels are counted exactly, whatever strings contain; incomplete text is harmless", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: character }), fc.nat(), (value, cut) => {
      const text = JSON.stringify(value)
      expect(hasMoreValues(text, count(value))).toBe(false)
      if (count(value) > 0) expect(hasMoreValues(text, count(value) - 1)).toBe(true)
      expect(isDeeper(text, depthOf(value))).toBe(false)
      if (depthOf(value) > 0) expect(isDeeper(text, depthOf(value) - 1)).toBe(true)
      hasMoreValues(text.slice(0, cut % text.length), 1)
      isDeeper(text.slice(0, cut % text.length), 1)
    }),
  )
})

test("a value's text is found by its path, with all digits, whatever surrounds it", () => {
  const name = fc.constantFrom("a", "b", "id", '"', "\\")
  const path = fc.array(name, { minLength: 1, maxLength: 3 })
  const scalar = fc.constantFrom("1.0", "-0", "1e2", "12345678901234567890", '"x\\"]"', "true", "null")
  fc.assert(
    fc.property(path, scalar, fc.jsonValue(), fc.constantFrom("", " ", "\n"), (names, source, other, space) => {
      const inner = (at: number): string => {
        if (at === names.length) return source
        const key = JSON.stringify(names[at])
        const members = [`"before":${JSON.stringify(other)}`, `${key}${space}:${space}${JSON.stringify(other)}`]
        return `{${members.join(",")},${space}${key}:${inner(at + 1)}${space},"after":[${JSON.stringify({ id: other })}]}`
      }
      expect(sourceAt(inner(0), names)).toBe(source)
      expect(sourceAt(inner(0), [...names, "more"])).toBeUndefined()
    }),
  )
})
