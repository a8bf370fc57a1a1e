import type { Bucket, Limits, Place } from "./limits.ts"
import { createRateLimiter, type Decision, type RateLimiter } from "./rate-limiter.ts"

/** The part of a limit that applies here: all of it, or this replica's share. */
type Share = (limit: number) => number

const free: Decision = { allowed: true, remaining: 0, retryAfterSeconds: 0, resetSeconds: 0, shared: false }

/** The counts of this process. */
export const createLocalCounts = (options: { readonly now: () => number; readonly maxBuckets?: number }) => {
  const tables = new Map<string, RateLimiter>()
  const inUse = new Map<string, number>()

  const createTable = (): RateLimiter => createRateLimiter(options)
  const limiterOf = (table: string): RateLimiter => tables.getOrInsertComputed(table, createTable)

  const peek = ({ table, group, key, limit }: Bucket, share: Share): Decision =>
    limiterOf(table).peek(group, key, share(limit))

  const undo = (buckets: readonly Bucket[]): void => {
    for (const { table, group, key } of buckets) limiterOf(table).undo(group, key)
  }

  return {
    peek,
    /** Counts against all of these buckets or none. */
    take: (buckets: readonly Bucket[], share: Share): Decision => {
      let first: Decision | undefined
      for (const [index, { table, group, key, limit }] of buckets.entries()) {
        const decision = limiterOf(table).take(group, key, share(limit))
        if (!decision.allowed) {
          undo(buckets.slice(0, index))
          return decision
        }
        first ??= decision
      }
      return first ?? free
    },
    /** The decision of the first full bucket, if any. Counts nothing. */
    fullBucket: (buckets: readonly Bucket[], share: Share): Decision | undefined => {
      for (const bucket of buckets) {
        const decision = peek(bucket, share)
        if (!decision.allowed) return decision
      }
      return undefined
    },
    /** Counts a request that the store allowed. */
    add: (buckets: readonly Bucket[]): void => {
      for (const { table, group, key } of buckets) limiterOf(table).add(group, key)
    },
    /** Removes a request that was counted here and refused by the store. */
    undo,
    /** The first full pool, if any. */
    fullPlace: (places: readonly Place[], share: Share): Place | undefined =>
      places.find(({ pool, limit }) => (inUse.get(pool) ?? 0) >= share(limit)),
    /** Takes the places. The function it returns releases them, and returns whether they were still taken. */
    enter: (places: readonly Place[]): (() => boolean) => {
      for (const { pool } of places) inUse.set(pool, (inUse.get(pool) ?? 0) + 1)
      let inside = true
      return () => {
        for (const { pool } of inside ? places : []) {
          const left = (inUse.get(pool) ?? 0) - 1
          if (left > 0) inUse.set(pool, left)
          else inUse.delete(pool)
        }
        const wasInside = inside
        inside = false
        return wasInside
      }
    },
  }
}

const whole: Share = (limit) => limit

/**
 * Makes limits that this process counts alone. They return decisions, not promises.
 * @param now a monotonic clock, in milliseconds
 */
export const createLocalLimits = (options: Parameters<typeof createLocalCounts>[0]): Limits => {
  const counts = createLocalCounts(options)
  return {
    take: (buckets) => counts.take(buckets, whole),
    enter: ({ places }) => {
      const full = counts.fullPlace(places, whole)
      return full === undefined ? { leave: counts.enter(places) } : { full }
    },
    peek: (bucket) => counts.peek(bucket, whole),
    mode: () => "local",
    close: async () => {},
  }
}
