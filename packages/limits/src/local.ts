import { createLimiter, type Limiter } from "@svc/limiter"
import type { Bucket, Decision, Limits, Place } from "./limits.ts"

/** What of a limit counts here: all of it, or this replica's share. */
type Share = (limit: number) => number

/** The counts of this process. */
export const createLocalCounts = ({ now, maxBuckets }: { now: () => number; maxBuckets?: number }) => {
  const tables = new Map<string, Limiter>()
  const inUse = new Map<string, number>()

  const limiterOf = (table: string): Limiter => {
    const known = tables.get(table)
    if (known !== undefined) return known
    const limiter = createLimiter(maxBuckets === undefined ? { now } : { now, maxBuckets })
    tables.set(table, limiter)
    return limiter
  }

  const peek = ({ table, group, key, limit }: Bucket, share: Share): Decision =>
    limiterOf(table).peek(group, key, share(limit))

  const giveBack = (buckets: readonly Bucket[]): void => {
    for (const { table, group, key } of buckets) limiterOf(table).giveBack(group, key)
  }

  return {
    peek,
    /** Counts against all of these buckets or none. */
    take: (buckets: readonly Bucket[], share: Share): Decision => {
      let first: Decision | undefined
      for (const [index, bucket] of buckets.entries()) {
        const { table, group, key, limit } = bucket
        const decision = limiterOf(table).take(group, key, share(limit))
        if (!decision.allowed) {
          giveBack(buckets.slice(0, index))
          return decision
        }
        first ??= decision
      }
      return first ?? { allowed: true, remaining: 0, retryAfterSeconds: 0, resetSeconds: 0 }
    },
    /** What the first full bucket says, if any; counts nothing. */
    fullBucket: (buckets: readonly Bucket[], share: Share): Decision | undefined => {
      for (const bucket of buckets) {
        const decision = peek(bucket, share)
        if (!decision.allowed) return decision
      }
      return undefined
    },
    /** Counts what was admitted elsewhere. */
    add: (buckets: readonly Bucket[]): void => {
      for (const { table, group, key } of buckets) limiterOf(table).add(group, key)
    },
    giveBack,
    /** The first full pool, if any. */
    fullPlace: (places: readonly Place[], share: Share): Place | undefined =>
      places.find(({ pool, limit }) => (inUse.get(pool) ?? 0) >= share(limit)),
    enter: (places: readonly Place[]): void => {
      for (const { pool } of places) inUse.set(pool, (inUse.get(pool) ?? 0) + 1)
    },
    leave: (places: readonly Place[]): void => {
      for (const { pool } of places) {
        const left = (inUse.get(pool) ?? 0) - 1
        if (left > 0) inUse.set(pool, left)
        else inUse.delete(pool)
      }
    },
  }
}

const whole: Share = (limit) => limit

/**
 * Makes limits that this process counts alone.
 * @param now a monotonic clock, in milliseconds
 */
export const createLocalLimits = (options: { readonly now: () => number; readonly maxBuckets?: number }): Limits => {
  const counts = createLocalCounts(options)
  const turn = {
    take: (buckets: readonly Bucket[]) => counts.take(buckets, whole),
    enter: (places: readonly Place[]) => {
      const full = counts.fullPlace(places, whole)
      if (full !== undefined) return { full }
      counts.enter(places)
      return { leave: () => counts.leave(places) }
    },
  }
  return { turn: () => turn, peek: (bucket) => counts.peek(bucket, whole), mode: () => "local", close: async () => {} }
}
