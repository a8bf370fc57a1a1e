import { withNetwork } from "./address-prefixes.ts"
import type { Bucket, Entry, Limits, Place } from "./limits.ts"
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

  const undo = (buckets: readonly Bucket[]): void => {
    for (const { table, group, key } of buckets) limiterOf(table).undo(group, key)
  }

  /** That of the first one that refuses. A network's refusal is one that neighbours share. */
  const peek = (bucket: Bucket, share: Share): Decision => {
    const [own, network] = withNetwork(bucket).map(({ table, group, key, limit }) =>
      limiterOf(table).peek(group, key, share(limit)),
    )
    if (own?.allowed === true && network?.allowed === false) return { ...network, shared: true }
    return own ?? free
  }

  const take = (buckets: readonly Bucket[], share: Share): Decision => {
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
  }

  const leave = (places: readonly Place[]): void => {
    for (const { pool } of places) {
      const left = (inUse.get(pool) ?? 0) - 1
      if (left > 0) inUse.set(pool, left)
      else inUse.delete(pool)
    }
  }

  const enter = (places: readonly Place[], share: Share): Entry => {
    const full = places.find(({ pool, limit }) => (inUse.get(pool) ?? 0) >= share(limit))
    if (full !== undefined) return { full }
    for (const { pool } of places) inUse.set(pool, (inUse.get(pool) ?? 0) + 1)
    let taken = places
    return {
      leave: () => {
        leave(taken)
        taken = []
      },
    }
  }

  return {
    peek,
    /** Counts against all of these buckets or none. */
    take,
    /** Removes a request that was counted here and refused by the store. */
    undo,
    /** Takes a place in all of these pools or in none. */
    enter,
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
    take: (buckets) => counts.take(buckets.flatMap(withNetwork), whole),
    enter: ({ places }) => counts.enter(places, whole),
    peek: (bucket) => counts.peek(bucket, whole),
    mode: () => "local",
    close: async () => {},
  }
}
