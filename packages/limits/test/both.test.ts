import { createClient } from "redis"
import fc from "fast-check"
import { startRedis } from "@svc/testing"
import { describe, expect, test } from "vitest"
import { beforeTests } from "../../../test/start-service.ts"
import type { Bucket } from "../src/index.ts"
import { createStoreKeys } from "../src/store-keys.ts"
import { hasStore, open } from "./open.ts"

const anyRequest = fc.record({
  address: fc.nat(1),
  subject: fc.option(fc.nat(1), { nil: undefined }),
  early: fc.boolean(),
})
/** Requests of two addresses and two subjects, each with limits of its own, and the places of one pool. */
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: anyRequest },
    { weight: 1, arbitrary: fc.constant("enter" as const) },
    { weight: 1, arbitrary: fc.constant("leave" as const) },
  ),
  { maxLength: 40 },
)
const limitsOf = fc.record({ address: fc.nat(6), subject: fc.nat(4), places: fc.nat(2) })

describe.each([
  ["counted in this process", false],
  ["counted in a store", true],
])("limits %s", (_, shared) => {
  describe.skipIf(shared && !hasStore)("agree", () => {
    const redis = shared ? beforeTests(startRedis, ({ stop }) => stop()) : undefined
    let runs = 0
    const openOne = () => open(redis === undefined ? { now: () => 0 } : { url: redis.url, prefix: `both${++runs}` })

    const follow = async (
      asked: typeof steps extends fc.Arbitrary<infer Steps> ? Steps : never,
      limit: { address: number; subject: number; places: number },
      atOnce: boolean,
    ): Promise<void> => {
      const limits = await openOne()
      const counted = new Map<string, number>()
      const entries: (() => void)[] = []
      let inside = 0
      const places = { places: [{ pool: "p", limit: limit.places }], leaseMs: 60_000 }
      const checks: (() => Promise<void>)[] = []
      for (const step of asked) {
        if (typeof step === "object") {
          const { address, subject, early } = step
          const bucket = (group: "address" | "subject", key: number): Bucket => ({
            table: group,
            group,
            key: String(key),
            limit: limit[group],
          })
          const buckets = [bucket("address", address), ...(subject === undefined ? [] : [bucket("subject", subject)])]
          // All or none, and the first that is full answers.
          const name = ({ group, key }: Bucket): string => `${group} ${key}`
          const full = buckets.find((one) => (counted.get(name(one)) ?? 0) >= one.limit)
          if (full === undefined) for (const one of buckets) counted.set(name(one), (counted.get(name(one)) ?? 0) + 1)
          const told = full ?? buckets[0] ?? expect.fail("no bucket")
          const expected = { allowed: full === undefined, remaining: told.limit - (counted.get(name(told)) ?? 0) }
          // In this process nothing is gained by taking a place early.
          const entered = !shared || !early || full !== undefined ? undefined : inside < limit.places
          if (entered === true) inside++
          const answer = limits.take(buckets, early ? places : undefined)
          const check = async (): Promise<void> => {
            const decision = await answer
            expect(decision).toMatchObject(expected)
            expect(decision.retryAfterSeconds > 0).toBe(!decision.allowed)
            if (told.limit === 0) expect(decision.retryAfterSeconds).toBe(60)
            const { entry } = decision
            expect(entry && "leave" in entry).toBe(entered)
            if (entry !== undefined && "leave" in entry) entries.push(entry.leave)
          }
          if (atOnce) checks.push(check)
          else await check()
        } else if (!atOnce && step === "enter") {
          const entry = await limits.enter(places)
          expect("leave" in entry).toBe(inside < limit.places)
          if ("leave" in entry) {
            entries.push(entry.leave)
            inside++
          }
        } else if (!atOnce && entries.length > 0) {
          entries.pop()?.()
          inside--
        }
      }
      for (const check of checks) await check()
      await limits.close()
    }

    test("one request at a time: an address and a subject count both or neither, and a returned place is free", () =>
      fc.assert(
        fc.asyncProperty(steps, limitsOf, (asked, limit) => follow(asked, limit, false)),
        { numRuns: 60 },
      ))

    test("many requests at once are decided as if they came one by one in order", () =>
      fc.assert(
        fc.asyncProperty(steps, limitsOf, (asked, limit) => follow(asked, limit, true)),
        { numRuns: 60 },
      ))
  })
})

describe.skipIf(!hasStore)("a bucket of the store", () => {
  const redis = beforeTests(startRedis, ({ stop }) => stop())

  test("counts what is at most 60 s old, and returns when that ends", async () => {
    const admin = await createClient({ url: redis.url }).connect()
    const limits = await open({ url: redis.url, prefix: "window" })
    const secondNow = async (): Promise<number> => Number((await admin.sendCommand<[string, string]>(["TIME"]))[0])
    const ages = fc.uniqueArray(
      fc.record({ age: fc.integer({ min: -3, max: 90 }), count: fc.integer({ min: 1, max: 5 }) }),
      {
        maxLength: 12,
        selector: ({ age }) => age,
      },
    )
    const keys = createStoreKeys("window", "relay")
    let runs = 0
    await fc.assert(
      fc.asyncProperty(ages, fc.nat(30), async (given, limit) => {
        const one: Bucket = { table: "t", group: "g", key: String(++runs), limit }
        const key = keys.bucket(one)
        for (;;) {
          const now = await secondNow()
          const counts = given.toSorted((a, b) => b.age - a.age)
          const bytes = Buffer.alloc(8 * counts.length)
          counts.forEach(({ age, count }, index) => {
            bytes.writeUInt32BE(now - age, 8 * index)
            bytes.writeUInt32BE(count, 4 + 8 * index)
          })
          if (counts.length > 0) await admin.set(key, bytes)
          else await admin.del(key)
          const decision = await limits.take([one])
          // The second went by meanwhile: what was written is older than it says.
          if ((await secondNow()) !== now) continue
          // A server whose clock was set back: its latest second is now.
          const ahead = Math.max(0, ...counts.map(({ age }) => -age))
          const inWindow = counts.filter(({ age }) => age + ahead <= 60)
          const total = inWindow.reduce((sum, { count }) => sum + count, 0)
          expect(decision.allowed).toBe(total < limit)
          expect(decision.remaining).toBe(Math.max(0, limit - total - (total < limit ? 1 : 0)))
          if (limit > 0 && total >= limit) {
            let gone = 0
            const leaving = inWindow.find(({ count }) => (gone += count) > total - limit)
            expect(Math.abs(decision.retryAfterSeconds - (61 - (leaving?.age ?? 0)))).toBeLessThanOrEqual(1)
          }
          return
        }
      }),
      { numRuns: 150 },
    )
    await limits.close()
    admin.destroy()
  })
})
