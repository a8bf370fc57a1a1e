import fc from "fast-check"
import { expect, test } from "vitest"
import { createLimiter } from "../src/index.ts"

const steps = fc.array(fc.record({ wait: fc.oneof(fc.nat(50), fc.nat(2500), fc.nat(70_000)), key: fc.nat(2) }), {
  maxLength: 400,
})

test("never more than the limit is admitted in any 60 s, wherever the 60 s begin", () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: 7 }), fc.nat(5000), (requests, limit, start) => {
      let time = start
      const limiter = createLimiter({ now: () => time })
      const admitted: { time: number; key: number }[] = []
      for (const { wait, key } of requests) {
        time += wait
        if (limiter.take("g", String(key), limit).allowed) admitted.push({ time, key })
      }
      for (const first of admitted) {
        const inWindow = admitted.filter(
          (other) => other.key === first.key && other.time >= first.time && other.time - first.time < 60_000,
        )
        expect(inWindow.length).toBeLessThanOrEqual(limit)
      }
    }),
  )
})

test("a request that waits as long as Retry-After says is admitted, and one a second earlier may not be", () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 7 }), (requests, limit) => {
      let time = 123_456
      const limiter = createLimiter({ now: () => time })
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

test("an allowance that was used evenly comes back: a full window later everything is admitted again", () => {
  let time = 0
  const limiter = createLimiter({ now: () => time })
  for (let i = 0; i < 60; i++, time += 1000) expect(limiter.take("g", "k", 60).remaining).toBe(59 - i)
  expect(limiter.take("g", "k", 60).allowed).toBe(false)
  time += 61_000
  expect(limiter.take("g", "k", 60)).toMatchObject({ allowed: true, remaining: 59 })
})

test("a limit of 0 admits nothing and asks for a minute's patience", () => {
  const limiter = createLimiter({ now: () => 5 })
  expect(limiter.take("g", "k", 0)).toMatchObject({ allowed: false, remaining: 0, retryAfterSeconds: 60 })
})

test("a lower limit for one request counts against what was admitted under a higher one", () => {
  const limiter = createLimiter({ now: () => 0 })
  for (let i = 0; i < 5; i++) limiter.take("g", "k", 10)
  expect(limiter.take("g", "k", 5).allowed).toBe(false)
  expect(limiter.take("g", "k", 6).allowed).toBe(true)
})

test("while full of busy buckets further keys share one bucket a group, and no busy bucket is dropped", () => {
  let time = 0
  const limiter = createLimiter({ now: () => time, maxBuckets: 3 })
  for (const key of ["a", "b", "c"]) expect(limiter.take("g", key, 1).allowed).toBe(true)
  expect(limiter.take("g", "d", 1).allowed).toBe(true)
  expect(limiter.take("g", "e", 1).allowed).toBe(false)
  expect(limiter.take("other", "e", 1).allowed).toBe(true)
  for (const key of ["a", "b", "c"]) expect(limiter.take("g", key, 1).allowed).toBe(false)
  expect(limiter.size()).toBe(3)
  time = 61_000
  expect(limiter.take("g", "d", 1).allowed).toBe(true)
  expect(limiter.size()).toBe(1)
})

test("a million addresses leave no more than the buckets that are allowed", () => {
  let time = 0
  const limiter = createLimiter({ now: () => time, maxBuckets: 1000 })
  for (let i = 0; i < 1_000_000; i++) {
    if (i % 1000 === 0) time += 100
    limiter.take("g", String(i), 5)
  }
  expect(limiter.size()).toBeLessThanOrEqual(1000)
})
