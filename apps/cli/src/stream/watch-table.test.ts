import fc from "fast-check"
import { anyCharacter } from "@svc/testing"
import { expect, test } from "vitest"
import { styleOf } from "../output/style.ts"
import { recordTable } from "./watch-table.ts"

const style = styleOf({}, false, undefined)

test("records are rows and fields are columns, except empty fields and those that repeat the key", () => {
  const records = new Map([
    ["a1", { id: { key: "a1" }, amount: { lamports: "5", sol: 0.5 }, note: null, list: [1, 2] }],
    ["b2", { id: { key: "b2" }, amount: { lamports: "123456789012345678", sol: 1 }, note: null, list: [] }],
  ])
  expect(recordTable(records, { columns: 80, rows: 24 }, style)).toBe(
    [
      "KEY  amount.lamports   amount.sol  list",
      "a1   5                 0.5         [1,2]",
      "b2   123456789012345…  1           []",
    ].join("\n"),
  )
  expect(recordTable(records, { columns: 30, rows: 5 }, style)).toBe(
    "KEY  amount.lamports  list\na1   5                [1,2]\n… and 1 more",
  )
  expect(recordTable(new Map(), { columns: 80, rows: 24 }, style)).toBe("KEY")
})

test("any records fit the terminal's width, without control characters", () => {
  const records = fc
    .array(fc.tuple(fc.string({ unit: anyCharacter }), fc.jsonValue({ maxDepth: 3 })))
    .map((rows) => new Map(rows))
  const size = fc.record({ columns: fc.integer({ min: 20, max: 200 }), rows: fc.integer({ min: 1, max: 40 }) })
  fc.assert(
    fc.property(records, size, (some, screen) => {
      const lines = recordTable(some, screen, style).split("\n")
      expect(lines.length).toBeLessThanOrEqual(Math.max(3, screen.rows - 2))
      for (const line of lines) expect(line).toMatch(/^\P{Cc}*$/u)
      for (const line of lines) expect(Array.from(line).length).toBeLessThanOrEqual(screen.columns)
    }),
    { numRuns: 50 },
  )
})
