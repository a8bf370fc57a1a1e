import fc from "fast-check"
import { expect, test } from "vitest"
import { isShallow, parseExact, u64Text } from "../src/upstream/exact-json.ts"

const parse = (text: string): unknown => parseExact(Buffer.from(text))
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })

test("every u64 survives reading and writing with all its digits", () => {
  fc.assert(
    fc.property(u64, (value) => {
      const text = `{"slot":${value},"inner":[{"deep":${value}}]}`
      const parsed = parse(text) as { slot: unknown }
      expect(u64Text(parsed.slot)).toBe(String(value))
      expect(JSON.stringify(parsed)).toBe(text)
    }),
  )
})

test("a value that isn't a u64 is never read as one", () => {
  const others = ["-1", "1.5", "18446744073709551616", "99999999999999999999999", "1e300", '"5"', "null", "[5]"]
  for (const text of others) expect(u64Text(parse(text))).toBeUndefined()
  expect(u64Text({ rawJSON: "5" })).toBeUndefined()
})

test("bytes that aren't UTF-8 JSON, and exact texts with too many values, are rejected", () => {
  for (const bytes of [[0xff], [0x22, 0xc3, 0x22], [0x7b], []])
    expect(() => parseExact(Uint8Array.from(bytes))).toThrow(/JSON|encoded/)
  const many = `[18446744073709551615${",1".repeat(100_001)}]`
  expect(() => parse(many)).toThrow(RangeError)
  expect(parse(many.replace("18446744073709551615", "1"))).toHaveLength(100_002)
})

test("nesting is bounded, however deep the text is", () => {
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`
  expect(isShallow(parse(nested(32)))).toBe(true)
  expect(isShallow(parse(nested(34)))).toBe(false)
  expect(isShallow(parse(nested(30_000)))).toBe(false)
  expect(() => parse(nested(30_000).replace("[]", "[18446744073709551615]"))).toThrow(RangeError)
})
