import fc from "fast-check"
import { expect, test } from "vitest"
import { editDistance } from "./edit-distance.ts"

test.each([
  ["", "", 0],
  ["key", "", 3],
  ["walet", "wallet", 1],
  ["wlalet", "wallet", 1],
  ["stream", "streets", 3],
])("%s and %s are %i edits apart", (a, b, edits) => {
  expect(editDistance(a, b)).toBe(edits)
})

test("above the limit it returns limit + 1; it is symmetric", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 })
  fc.assert(
    fc.property(word, word, fc.nat(4), (a, b, limit) => {
      const whole = editDistance(a, b)
      expect(editDistance(b, a)).toBe(whole)
      expect(editDistance(a, b, limit)).toBe(Math.min(whole, limit + 1))
    }),
  )
})
