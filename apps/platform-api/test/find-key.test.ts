import { mintKey } from "@svc/keys"
import { randomBytes } from "node:crypto"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { createKeyFinder, sentKey } from "../src/auth/find-key.ts"
import type { Database } from "../src/db/database.ts"

// The clock is the test's, so that a look-up can be late without anyone waiting.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
afterEach(() => void vi.useRealTimers())

type Asked = {
  readonly hashes: readonly string[]
  readonly answer: (found?: boolean) => void
  readonly fail: () => void
}

const secret = randomBytes(32)

/** A database whose queries the test answers. */
const scripted = () => {
  const asked: Asked[] = []
  const query = (_: string, [hashes]: readonly unknown[]) =>
    new Promise((resolve, reject) => {
      const list = [...String(hashes).matchAll(/[0-9a-f]{64}/g)].map(([hash]) => hash)
      asked.push({
        hashes: list,
        answer: (found = true) => resolve(found ? list.map((hash) => ({ hash })) : []),
        fail: () => reject(new Error("away")),
      })
    })
  const database = { within: () => ({ query }) } as unknown as Database
  return { asked, find: createKeyFinder(database, 1800, secret) }
}

const key = (by: Uint8Array = secret) => sentKey(mintKey("ak", randomBytes, by))
const turns = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
}

test("keys asked for while one query is under way are found by the next, each by its own hash", async () => {
  const { asked, find } = scripted()
  const [first, second, third] = [key(), key(), key()]
  const one = find(first)
  await turns()
  const others = [find(second), find(third), find(second)]
  await turns()
  expect(asked.map(({ hashes }) => hashes)).toEqual([[first.hash]])
  asked[0]?.answer()
  await turns()
  expect(asked[1]?.hashes.toSorted()).toEqual([second.hash, third.hash].toSorted())
  asked[1]?.answer()
  expect((await one)?.hash).toBe(first.hash)
  expect((await Promise.all(others)).map((row) => row?.hash)).toEqual([second, third, second].map(({ hash }) => hash))
})

test("a query that gives no answer holds the next up for 50 ms at most", async () => {
  const { asked, find } = scripted()
  const stuck = find(key())
  await turns()
  const next = find(key())
  await vi.advanceTimersByTimeAsync(49)
  await turns()
  expect(asked.length).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  await turns()
  expect(asked.length).toBe(2)
  asked[1]?.answer()
  expect(await next).toBeDefined()
  asked[0]?.fail()
  await expect(stuck).rejects.toThrow("away")
})

test("a query that fails fails for those who asked for it, and for nobody else", async () => {
  const { asked, find } = scripted()
  const lost = [find(key()), find(key())].map((found) => found.catch(() => "failed"))
  await turns()
  const found = find(key())
  asked[0]?.fail()
  expect(await Promise.all(lost)).toEqual(["failed", "failed"])
  await turns()
  asked[1]?.answer()
  expect(await found).toBeDefined()
})

test("from a suspect come to the database only keys with the service's own tag, and keys that were found before", async () => {
  const { asked, find } = scripted()
  const [own, old, unknown] = [key(), key(randomBytes(32)), key()]
  expect(await find(old, true)).toBeUndefined()
  expect(asked).toEqual([])
  const answered = async (one: ReturnType<typeof key>, isSuspect: boolean, found: boolean) => {
    const answer = find(one, isSuspect)
    await turns()
    asked.at(-1)?.answer(found)
    return (await answer)?.hash
  }
  expect(await answered(own, true, true)).toBe(own.hash)
  expect(await answered(old, false, true)).toBe(old.hash)
  expect(await answered(old, true, true)).toBe(old.hash)
  expect(await answered(unknown, true, false)).toBeUndefined()
  expect(asked.length).toBe(4)
  expect(await find(unknown, true)).toBeUndefined()
  expect(asked.length).toBe(4)
})
