import { expect, test } from "vitest"
import { createTurns } from "./turns.ts"

test("a turn of the event loop begins at most 8 requests, and one of each client before a second of any", async () => {
  const takeTurn = createTurns()
  const begun: string[] = []
  for (let i = 0; i < 100; i++) takeTurn("many", () => begun.push("many"))
  for (const client of ["few", "other"]) takeTurn(client, () => begun.push(client))
  expect(begun).toHaveLength(8)
  await new Promise(setImmediate)
  expect(begun).toHaveLength(16)
  expect(begun.slice(8, 11).toSorted()).toEqual(["few", "many", "other"])
  for (let i = 0; i < 11; i++) await new Promise(setImmediate)
  expect(begun).toHaveLength(102)
})
