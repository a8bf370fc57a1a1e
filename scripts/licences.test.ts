import fc from "fast-check"
import { expect, test } from "vitest"

import { isAllowed, refusedPackages } from "./licences.ts"

test.each(["MIT", "Apache-2.0", "(MIT OR GPL-3.0-only)", "GPL-3.0-only OR MIT", "MIT AND ISC", " BSD-3-Clause "])(
  "%s is allowed",
  (expression) => expect(isAllowed(expression)).toBe(true),
)

test.each([
  "GPL-3.0-only",
  "MIT AND GPL-3.0-only",
  "Unknown",
  "",
  "mit",
  "SEE LICENSE IN file",
  "AGPL-3.0 AND (GPL-3.0 OR MIT)",
])("%j is rejected", (expression) => expect(isAllowed(expression)).toBe(false))

test("nothing is allowed without an allowed licence", () => {
  const other = fc.constantFrom("GPL-2.0-only", "AGPL-3.0-only", "SSPL-1.0", "Unknown")
  const parts = fc.array(fc.tuple(other, fc.constantFrom(" OR ", " AND ")), { minLength: 1 })
  fc.assert(fc.property(parts, (list) => !isAllowed(list.flat().slice(0, -1).join(""))))
})

test("a rejected package is reported with its version and licence", () => {
  const groups = {
    MIT: [{ name: "good", versions: ["1.0.0"] }],
    "GPL-3.0-only": [{ name: "other", versions: ["2.0.0", "3.0.0"] }],
  }
  expect(refusedPackages(groups)).toEqual(["other@2.0.0, 3.0.0: GPL-3.0-only"])
})
