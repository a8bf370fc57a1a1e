import { expect, test } from "vitest"
import { createTurns } from "./turns.ts"

const turn = () => new Promise(setImmediate)

test("one turn of the event loop starts at most 32 requests, and one per client before a second of any", async () => {
  const takeTurn = createTurns(() => 0)
  const begun: string[] = []
  for (let i = 0; i < 100; i++) takeTurn("many", () => begun.push("many"))
  for (const client of ["few", "other"]) takeTurn(client, () => begun.push(client))
  expect(begun).toHaveLength(32)
  await turn()
  expect(begun).toHaveLength(64)
  expect(begun.slice(32, 35).toSorted()).toEqual(["few", "many", "other"])
  for (let i = 0; i < 2; i++) await turn()
  expect(begun).toHaveLength(102)
})

test("while one connection per turn is accepted, one request per turn starts too", async () => {
  let accepted = 0
  const takeTurn = createTurns(() => accepted)
  let begun = 0
  for (let i = 0; i < 100; i++) takeTurn("one", () => begun++)
  for (; accepted < 10; accepted++) await turn()
  expect(begun).toBe(32 + 32 + 9)
  await turn()
  await turn()
  expect(begun).toBe(100)
})
