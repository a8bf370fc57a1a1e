import fc from "fast-check"
import { expect, test } from "vitest"
import { parseExactly, writeExactly } from "./index.ts"

test("a number that a double would change is kept as its text says, every other as the language reads it", () => {
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
