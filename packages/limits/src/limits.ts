import type { Decision } from "./rate-limiter.ts"

/** A count that a request goes against: never more than `limit` of one `key` in any 60 s. */
export type Bucket = {
  /** Each table has memory of its own: a flood of keys in one doesn't crowd out the keys of another. */
  readonly table: string
  readonly group: string
  /** A client address, as `addressBucket` writes it, is counted by a wider prefix while its table is full. */
  readonly key: string
  readonly limit: number
}

/** A pool of which never more than `limit` places are taken at a time. */
export type Place = { readonly pool: string; readonly limit: number }

/**
 * Places in some pools, and how long they stay taken if this process dies.
 * `renewed`: they may be held for longer than that; this process renews them until they are given back.
 */
export type Places = { readonly places: readonly Place[]; readonly leaseMs: number; readonly renewed?: boolean }

/** Places taken, with what gives them back (once, however often it is called); or the pool that was full. */
export type Entry = { readonly leave: () => void } | { readonly full: Place }

export type LimitsMode = "shared" | "local"

/** Rates and concurrency, counted in this process or over all replicas of a service. */
export type Limits = {
  /**
   * Counts a request against all of these buckets or none; the first that is full answers.
   * @param early where a store counts, the places are taken in the same call, if the request is admitted: `entry` says so
   */
  readonly take: (
    buckets: readonly Bucket[],
    early?: Places,
  ) => (Decision & { readonly entry?: Entry }) | Promise<Decision & { readonly entry?: Entry }>
  /** Takes a place in all of these pools or in none, without waiting for one to come free. */
  readonly enter: (wanted: Places) => Entry | Promise<Entry>
  /** What this process alone knows of a bucket; counts nothing, asks nobody. */
  readonly peek: (bucket: Bucket) => Decision
  /** Who counts now: the store, or each replica for itself. */
  readonly mode: () => LimitsMode
  readonly close: () => Promise<void>
}
