import { setTimeout as delay } from "node:timers/promises"
import { createRandom, full, startRedis } from "@svc/testing"
import { describe, expect, test } from "vitest"
import type { Bucket } from "../src/index.ts"
import { hasStore, open } from "./open.ts"

// Only `pnpm fuzz` runs these: they need several real windows of 60 s.
const seconds = 200
const limit = 40
const bucket: Bucket = { table: "t", group: "g", key: "k", limit }

type Admitted = { readonly from: number; readonly to: number }

/** The most that were surely admitted within one minute. */
const mostInAMinute = (admitted: readonly Admitted[]): number =>
  Math.max(
    0,
    ...admitted.map(
      (first) => admitted.filter(({ from, to }) => from >= first.from && to < first.from + 60_000).length,
    ),
  )

describe.skipIf(!hasStore || !full)("limits in a store, for long", () => {
  test.each([
    ["a store that is well", false, limit],
    ["a store that is killed, frozen and restarted", true, 2 * limit],
  ])("three replicas on %s never exceed the promised rate in any minute", async (_, faults, most) => {
    const { next } = createRandom()
    const redis = await startRedis()
    const replicas = await Promise.all(
      // A busy machine is no reason to go on without a store that is well.
      [1, 2, 3].map(() =>
        open({
          url: redis.url,
          timeoutMs: faults ? 50 : 10_000,
          replicas: 3,
          ...(faults && { onAway: () => {}, onBack: () => {} }),
        }),
      ),
    )
    const admitted: Admitted[] = []
    const until = performance.now() + seconds * 1000
    const ask = async (index: number): Promise<void> => {
      while (performance.now() < until) {
        const from = performance.now()
        const { allowed } = (await replicas[index]?.take([bucket])) ?? { allowed: false }
        if (allowed) admitted.push({ from, to: performance.now() })
        await delay(next() * 60)
      }
    }
    const harm = async (): Promise<void> => {
      while (performance.now() < until - 2000) {
        if (next() < 0.5) {
          redis.signal("SIGSTOP")
          await delay(next() * 1000)
          redis.signal("SIGCONT")
        } else {
          await redis.halt()
          await delay(next() * 1000)
          await redis.resume()
        }
        await delay(next() * 20_000)
      }
    }
    await Promise.all([...(faults ? [harm()] : []), ...[0, 1, 2, 0, 1, 2].map(ask)])
    expect(mostInAMinute(admitted)).toBeLessThanOrEqual(most)
    expect(admitted.length).toBeGreaterThanOrEqual(limit / 2)
    await Promise.all(replicas.map((limits) => limits.close()))
    await redis.stop()
  })
})
