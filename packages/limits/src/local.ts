import { createLimiter, type Limiter } from "./limiter.ts"
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

  return {
    peek,
    /** Counts against one bucket after the other, until one refuses. */
    take: (buckets: readonly Bucket[], share: Share): Decision => {
      let first: Decision | undefined
      for (const { table, group, key, limit } of buckets) {
        const decision = limiterOf(table).take(group, key, share(limit))
        if (!decision.allowed) return decision
        first ??= decision
      }
      return first ?? { allowed: true, remaining: 0, retryAfterSeconds: 0, resetSeconds: 0 }
    },
    /** Counts what was admitted elsewhere. */
    add: (buckets: readonly Bucket[]): void => {
      for (const { table, group, key } of buckets) limiterOf(table).add(group, key)
    },
    giveBack: (buckets: readonly Bucket[]): void => {
      for (const { table, group, key } of buckets) limiterOf(table).giveBack(group, key)
    },
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
