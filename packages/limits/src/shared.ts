import type { Bucket, Entry, Limits, Places, Replica, Taken } from "./limits.ts"
import { withNetwork } from "./address-prefixes.ts"
import { createLocalCounts } from "./local.ts"
import type { Decision } from "./rate-limiter.ts"
import { createStoreKeys } from "./store-keys.ts"
import { connectStore, reasonOf, StoreTimeout, within } from "./store.ts"

const announceMs = 5000
const probeMs = 1000
const bothMs = 60_000
// A part of the timeout: a store that barely meets the timeout would soon miss it again.
const probeShare = 0.8

type SharedOptions = Replica & {
  /** redis:// or rediss://, may include a password; never logged. */
  readonly url: string
  readonly prefix: string
  /** How long one call to the store may take, in milliseconds. */
  readonly timeoutMs: number
  /** The minimum number of replicas that share a limit while the store is unavailable. */
  readonly replicas: number
}

/** Places under a name of their own. */
type Named = Places & { readonly name: string }

const noPlaces: Named = { places: [], leaseMs: 0, name: "" }
const attributes = { "db.system.name": "redis" }

/**
 * Makes limits that all replicas of a service share through a store (Valkey 7.2, Redis 6.2 or newer). While the store is
 * unavailable, each replica uses its share: the limit divided by the number of replicas seen last. Each replica also always
 * counts locally. For 60 s after the store's return both must allow a request, because the store may have lost its counts.
 */
export const createSharedLimits = async (options: SharedOptions): Promise<Limits> => {
  const { prefix, service, timeoutMs, replicaId, now, log } = options
  const counts = createLocalCounts({ now })
  let state: "away" | "shared" = "away"
  /** Until then the local share must allow requests too. */
  let bothUntil = -Infinity
  let replicas = Math.max(1, options.replicas)
  let placesTaken = 0
  let warned = false
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const whole = (limit: number): number => limit
  const share = (limit: number): number => (limit <= 0 ? limit : Math.max(1, Math.floor(limit / replicas)))

  const schedule = (ms: number): void => {
    clearTimeout(timer)
    if (!closed) timer = setTimeout(() => void announceAndProbe(), ms).unref()
  }

  const lose = (reason: string): void => {
    if (state === "shared") schedule(probeMs)
    state = "away"
    if (closed || warned) return
    warned = true
    log.warn(
      { reason },
      "the limits' store (SVC_LIMITS_URL) can't be used: each replica goes on with its share of the limits",
    )
  }
  const store = await connectStore(options.url, options.connect, lose)
  const keys = createStoreKeys(prefix, service)
  /** Places that need renewal. */
  const held = new Set<Named>()

  const announce = async (stays: boolean): Promise<void> => {
    const reply = store.announce([keys.replicas], [replicaId, stays ? 1 : 0])
    const [seen = 0] = await within(reply, warned ? Math.min(timeoutMs * probeShare, probeMs) : probeMs, now)
    replicas = Math.max(1, options.replicas, seen)
  }

  /** Whether the local share must allow requests too. The outage ends with that minute. */
  const mustBothAdmit = (): boolean => {
    if (now() < bothUntil) return true
    if (warned && state === "shared") {
      warned = false
      log.info({}, "the limits' store has been back for a minute: it counts for all replicas again")
    }
    return false
  }

  // The announcement is also the probe: it takes as long as a request's call, and fails if the store has no memory left.
  const announceAndProbe = async (): Promise<void> => {
    try {
      await announce(true)
      if (state === "away" && warned) bothUntil = now() + bothMs
      state = "shared"
      mustBothAdmit()
      for (const places of held) renew(places)
    } catch (error) {
      lose(reasonOf(error))
      // After a failover the address leads to another server, while the old one can keep this connection.
      if (store.isReady) {
        store.destroy()
        store.connect().catch(() => {})
      }
    }
    schedule(state === "away" ? probeMs : announceMs)
  }

  const send = (buckets: readonly Bucket[], { places, name, leaseMs }: Named): Promise<number[]> =>
    store.decide(
      [...buckets.map(keys.bucket), ...places.map(keys.place)],
      [buckets.length, ...[...buckets, ...places].map(({ limit }) => limit), name, leaseMs],
    )

  /** Extends the lease of places, even if the store has lost them. Isn't awaited. */
  const renew = (taken: Named): void => {
    const places = taken.places.map(({ pool }) => ({ pool, limit: Number.MAX_SAFE_INTEGER }))
    send([], { ...taken, places }).catch(() => {})
  }

  /** Isn't awaited: the lease of a place that isn't released runs out. */
  const release = ({ places, name }: Named): void => {
    store.release(places.map(keys.place), [name]).catch(() => {})
  }

  /** The decision about the buckets, and the number of the first full pool, or 0. */
  const ask = (
    span: string,
    buckets: readonly Bucket[],
    places: Named,
  ): Promise<{ decision: Decision; full: number }> =>
    options.call(span, attributes, async () => {
      const reply = send(buckets, places)
      try {
        const [allowed, remaining = 0, retryAfterSeconds = 1, resetSeconds = 0, full = 0] = await within(
          reply,
          timeoutMs,
          now,
        )
        return { decision: { allowed: allowed === 1, remaining, retryAfterSeconds, resetSeconds, shared: false }, full }
      } catch (error) {
        // Places that are granted too late are given back.
        if (error instanceof StoreTimeout)
          reply.then(
            () => release(places),
            () => {},
          )
        lose(reasonOf(error))
        throw error
      }
    })

  /** Counts places here, before the store is asked for them: for none if a pool is full here. */
  const reserve = (wanted: Places, part: typeof share) => {
    const here = counts.enter(wanted.places, part)
    if ("full" in here) return { named: noPlaces, cancel: () => {}, entry: (): Entry => here }
    const named: Named = { ...wanted, name: `${replicaId}:${++placesTaken}` }
    /** @param full the number of the pool that is full in the store, or 0 */
    const entry = (full: number): Entry => {
      const taken = wanted.places[full - 1]
      if (taken !== undefined) {
        here.leave()
        return { full: taken }
      }
      if (wanted.renewed === true) held.add(named)
      return {
        leave: () => {
          held.delete(named)
          here.leave()
          release(named)
        },
      }
    }
    return { named, cancel: here.leave, entry }
  }

  // What this replica refuses costs the store nothing.
  const take = async (wanted: readonly Bucket[], early?: Places): Promise<Taken> => {
    const buckets = wanted.flatMap(withNetwork)
    if (state === "away") return counts.take(buckets, share)
    const part = mustBothAdmit() ? share : whole
    const own = counts.take(buckets, part)
    if (!own.allowed) return own
    const places = early && reserve(early, part)
    const cancel = (): void => {
      counts.undo(buckets)
      places?.cancel()
    }
    try {
      const { decision, full } = await ask("limits take", buckets, places?.named ?? noPlaces)
      if (decision.allowed) return places === undefined ? decision : { ...decision, entry: places.entry(full) }
      cancel()
      return decision
    } catch {
      cancel()
      return counts.take(buckets, share)
    }
  }

  const enter = async (wanted: Places): Promise<Entry> => {
    if (state === "shared") {
      const places = reserve(wanted, mustBothAdmit() ? share : whole)
      if (places.named === noPlaces) return places.entry(0)
      try {
        return places.entry((await ask("limits enter", [], places.named)).full)
      } catch {
        places.cancel()
      }
    }
    if (wanted.renewed !== true) return counts.enter(wanted.places, share)
    // Renewals reach the store when it is back.
    return reserve(wanted, share).entry(0)
  }

  await announceAndProbe()
  return {
    take,
    enter,
    peek: (bucket) => counts.peek(bucket, state === "away" ? share : whole),
    mode: () => (state === "shared" ? "shared" : "local"),
    close: async () => {
      closed = true
      clearTimeout(timer)
      if (state === "shared") await announce(false).catch(() => {})
      store.destroy()
    },
  }
}
