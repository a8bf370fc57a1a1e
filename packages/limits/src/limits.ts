/** A count that a request goes against: never more than `limit` of one `key` in any 60 s. */
export type Bucket = {
  /** Tables have room for 100,000 keys each: a flood in one pushes nobody out of another. */
  readonly table: string
  readonly group: string
  readonly key: string
  readonly limit: number
}

/** What became of a request's counts. Of the bucket that refused it, else of the first one. */
export type Decision = {
  readonly allowed: boolean
  /** Requests still allowed now. */
  readonly remaining: number
  /** Whole seconds until a request is allowed again; 0 when this one was. */
  readonly retryAfterSeconds: number
  /** Whole seconds until the oldest counted request leaves the window. */
  readonly resetSeconds: number
}

/** A pool of which never more than `limit` places are taken at a time. */
export type Place = { readonly pool: string; readonly limit: number }

/** Places taken, with what gives them back; or the one that was full. */
export type Entry = { readonly leave: () => void } | { readonly full: Place }

/** One request's dealings with the limits. */
export type Turn = {
  /** Counts the request against all of these buckets or none; the first that is full answers. */
  readonly take: (buckets: readonly Bucket[]) => Decision | Promise<Decision>
  /**
   * Takes a place in all of these pools, or in none, without waiting for one to come free.
   * @param leaseMs after which the places are free again whatever becomes of this process
   */
  readonly enter: (places: readonly Place[], leaseMs: number) => Entry | Promise<Entry>
}

export type LimitsMode = "shared" | "local"

/** Rates and concurrency, counted in this process or over all replicas of a service. */
export type Limits = {
  /** Begins a request's turn: with a store, it may wait for that so long in all and no longer. */
  readonly turn: () => Turn
  /** Whether this process alone knows a bucket to be full; counts nothing, asks nobody. */
  readonly peek: (bucket: Bucket) => Decision
  /** Who counts now: the store, or each replica for itself. */
  readonly mode: () => LimitsMode
  readonly close: () => Promise<void>
}
