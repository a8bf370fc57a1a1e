import fc from "fast-check"
import { expect, test } from "vitest"
import { createLocalLimits } from "../src/index.ts"
import { createRateLimiter } from "../src/rate-limiter.ts"

const steps = fc.array(fc.record({ wait: fc.oneof(fc.nat(50), fc.nat(2500), fc.nat(70_000)), key: fc.nat(2) }), {
  maxLength: 400,
})

test("a request that waits for Retry-After is admitted, and one a second earlier may not be", () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 7 }), (requests, limit) => {
      let time = 123_456
      const limiter = createRateLimiter({ now: () => time })
      for (const { wait } of requests) {
        time += wait
        const decision = limiter.take("g", "k", limit)
        if (decision.allowed) continue
        expect(decision.retryAfterSeconds).toBeGreaterThanOrEqual(1)
        expect(decision.retryAfterSeconds).toBeLessThanOrEqual(61)
        time += decision.retryAfterSeconds * 1000
        expect(limiter.take("g", "k", limit).allowed).toBe(true)
      }
    }),
  )
})

test("a lower limit for one request counts what was admitted under a higher one", () => {
  const limiter = createRateLimiter({ now: () => 0 })
  for (let i = 0; i < 5; i++) limiter.take("g", "k", 10)
  expect(limiter.take("g", "k", 5).allowed).toBe(false)
  expect(limiter.take("g", "k", 6).allowed).toBe(true)
})

const networks = ["20010db8", "20010db9"].flatMap((isp) =>
  ["0000", "0001"].flatMap((site) => ["0001", "0002", "0101"].map((subnet) => `${isp}${site}${subnet}/64`)),
)
const hosts = ["192.0.2.1", "192.0.2.2", "192.0.3.1", "198.51.100.1"]
const owners = [...networks.slice(0, 3), ...hosts.slice(0, 3)].map((address) => `7 ${address}`)
const anyKey = fc.constantFrom(...networks, ...hosts, ...owners, "agent:a", "agent:b")

test("however full the tables are, no key gets more than its limit in any 60 s, alone or by prefix", () => {
  const requests = fc.array(
    fc.record({ wait: fc.oneof(fc.nat(50), fc.nat(15_000), fc.nat(70_000)), key: anyKey, peeked: fc.boolean() }),
    { maxLength: 300 },
  )
  fc.assert(
    fc.property(requests, fc.nat(3), fc.nat(4), fc.nat(3), (all, limit, maxBuckets, maxPrefixes) => {
      let time = 0
      const limiter = createRateLimiter({ now: () => time, maxBuckets, maxPrefixes })
      const admitted: { time: number; key: string }[] = []
      for (const { wait, key, peeked } of all) {
        time += wait
        const said = peeked ? limiter.peek("g", key, limit) : undefined
        const { allowed } = limiter.take("g", key, limit)
        if (said !== undefined) expect(said.allowed).toBe(allowed)
        if (allowed) admitted.push({ time, key })
        const recent = admitted.filter((one) => one.key === key && time - one.time < 60_000)
        expect(recent.length).toBeLessThanOrEqual(limit)
      }
    }),
    { numRuns: 300 },
  )
})

/** Requests from ever new /64 networks of one /47, as one customer of a provider can send them. */
const flood = (take: (key: string) => unknown, count: number): void => {
  for (let i = 0; i < count; i++) take(`20010db8${i.toString(16).padStart(8, "0")}/64`)
}

test("a flood from one IPv6 network doesn't affect others: they count separately, or by a wider prefix", () => {
  const limiter = createRateLimiter({ now: () => 0, maxBuckets: 1000 })
  const take = (key: string) => limiter.take("g", key, 2)
  flood(take, 30_000)
  expect(limiter.size()).toBeLessThanOrEqual(1000 + 3 * 200)
  for (const key of ["20010db900000001/64", ...hosts, "agent:a"]) {
    expect([take(key).allowed, take(key).allowed, take(key).allowed]).toEqual([true, true, false])
  }
  // Its neighbours are counted with it, and are told so.
  expect(take("20010db800007000/64")).toMatchObject({ allowed: false, shared: true })
})

test("one owner's many addresses don't fill a table for other owners, and end in that owner's own count", () => {
  const limiter = createRateLimiter({ now: () => 0, maxBuckets: 100 })
  flood((key) => limiter.take("g", `7 ${key}`, 2), 10_000)
  expect(limiter.take("g", "7 20010db800002000/64", 2)).toMatchObject({ allowed: false, shared: true })
  expect(limiter.take("g", "8 192.0.2.1", 2)).toMatchObject({ allowed: true, shared: false })
  expect(limiter.take("g", "8 20010db9ffff0000/64", 2).allowed).toBe(true)
})

test("keys without an address share one bucket while all are busy, and an idle bucket makes room", () => {
  let time = 0
  const limiter = createRateLimiter({ now: () => time, maxBuckets: 3 })
  for (const key of ["a", "b", "c"]) expect(limiter.take("g", key, 1).allowed).toBe(true)
  expect(limiter.take("g", "d", 1)).toMatchObject({ allowed: true, shared: true })
  expect(limiter.take("g", "e", 1).allowed).toBe(false)
  expect(limiter.take("other", "e", 1).allowed).toBe(true)
  for (const key of ["a", "b", "c"]) expect(limiter.take("g", key, 1).allowed).toBe(false)
  time = 61_000
  expect(limiter.take("g", "d", 1)).toMatchObject({ allowed: true, shared: false })
  expect(limiter.size()).toBe(1)
})

test("an IPv6 /48 has the limit of 16 addresses, each has its own, and other networks aren't affected", async () => {
  const limits = createLocalLimits({ now: () => 0 })
  const bucket = (key: string) => ({ table: "t", group: "g", key, limit: 2 })
  const take = async (key: string) => (await limits.take([bucket(key)])).allowed
  const address = (site: number, n: number) => `20010db8000${site}${n.toString(16).padStart(4, "0")}/64`
  const allowed = []
  for (let n = 0; n < 20; n++) for (let i = 0; i < 3; i++) allowed.push(await take(address(1, n)))
  expect(allowed.filter(Boolean)).toHaveLength(32)
  // Nothing is counted for an address whose network is full, and it is told that its neighbours count.
  expect(limits.peek(bucket(address(1, 19)))).toMatchObject({ allowed: false, shared: true })
  expect(limits.peek(bucket(address(1, 0)))).toMatchObject({ allowed: false, shared: false })
  expect([await take(address(2, 0)), await take("192.0.2.1"), await take("agent:a")]).toEqual([true, true, true])
})
