import { expect, test } from "vitest"
import { createSharedMemo } from "./shared-memo.ts"

test("what several ask for at once is made once, and kept", async () => {
  const memo = createSharedMemo<number>({ maxEntries: 4 })
  let made = 0
  const make = () => memo.make("a", async () => ++made)
  expect(await Promise.all([make(), make(), make()])).toEqual([1, 1, 1])
  expect([await make(), memo.get("a")]).toEqual([1, 1])
})

test("a failure is told to all who wait, and tried again by who asks next", async () => {
  const memo = createSharedMemo<number>({ maxEntries: 4 })
  const fail = () => memo.make("a", () => Promise.reject(new Error("away")))
  const both = await Promise.allSettled([fail(), fail()])
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"])
  expect(await memo.make("a", () => Promise.resolve(7))).toBe(7)
})
