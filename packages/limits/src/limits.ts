import type { Decision } from "./rate-limiter.ts"
import type { Connect } from "./store.ts"

/** A rate limit: at most `limit` requests of one `key` in any 60 s. */
export type Bucket = {
  /** Each table has its own memory, so a flood of keys in one doesn't displace the keys of another. */
  readonly table: string
  readonly group: string
  /** A client address, as `addressBucket` writes it, is also counted for its IPv6 /48, and by a wider prefix while the table is full. */
  readonly key: string
  readonly limit: number
}

/** A concurrency limit: at most `limit` places of a pool are taken at a time. */
export type Place = { readonly pool: string; readonly limit: number }

/**
 * Places in some pools, and how long they stay taken if this process dies.
 * `renewed`: they may be held for longer. This process renews them until they are released.
 */
export type Places = { readonly places: readonly Place[]; readonly leaseMs: number; readonly renewed?: boolean }

/** Places taken, with a function that releases them (calling it twice is harmless), or the pool that was full. */
export type Entry = { readonly leave: () => void } | { readonly full: Place }

export type Taken = Decision & { readonly entry?: Entry }

export const limitsModes = ["shared", "local"] as const
export type LimitsMode = (typeof limitsModes)[number]

/** Rate and concurrency limits, counted in this process or across all replicas of a service. */
export type Limits = {
  /**
   * Counts a request against all of these buckets, or against none if one is full: then returns that one's decision.
   * @param early with a store, these places are taken in the same call if the request is allowed, and returned as `entry`
   */
  readonly take: (buckets: readonly Bucket[], early?: Places) => Taken | Promise<Taken>
  /** Takes a place in all of these pools or in none. Never waits for a free place. */
  readonly enter: (wanted: Places) => Entry | Promise<Entry>
  /** The state of a bucket in this process. Counts nothing and doesn't ask the store. */
  readonly peek: (bucket: Bucket) => Decision
  /** Whether the store counts now, or each replica for itself. */
  readonly mode: () => LimitsMode
  readonly close: () => Promise<void>
}

type Log = Readonly<Record<"info" | "warn", (...line: [object, string]) => void>>

/** A replica of a service whose limits are shared. */
export type Replica = {
  readonly service: string
  /** Different for each process. */
  readonly replicaId: string
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly connect: Connect
  /** Gets one warning per outage, and one line when it is over. Another loss within a minute belongs to the same outage. */
  readonly log: Log
  /** Runs requests to the store, and makes spans of them. */
  readonly call: <T>(name: string, attributes: Readonly<Record<string, string>>, work: () => Promise<T>) => Promise<T>
}
