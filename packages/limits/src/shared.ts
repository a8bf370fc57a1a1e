import type { Bucket, Entry, Limits, Places, Taken } from "./limits.ts"
import { createLocalCounts } from "./local.ts"
import type { Decision } from "./rate-limiter.ts"
import { createStoreKeys } from "./store-keys.ts"
import { type Connect, connectStore, reasonOf, StoreTimeout, within } from "./store.ts"

const announceMs = 5000
const probeMs = 1000
const bothMs = 60_000
// A part of the timeout: a store that barely meets the timeout would soon miss it again.
const probeShare = 0.8

export type SharedOptions = {
  /** redis:// or rediss://, may include a password; never logged. */
  readonly url: string
  readonly connect: Connect
  readonly prefix: string
  /** The service whose replicas share the limits. */
  readonly service: string
  /** How long one call to the store may take, in milliseconds. */
  readonly timeoutMs: number
  /** The minimum number of replicas that share a limit while the store is unavailable. */
  readonly replicas: number
  /** Different for each process. */
  readonly replicaId: string
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Called once per outage, and once when it is over. Another loss within a minute belongs to the same outage. */
  readonly onAway: (reason: string) => void
  readonly onBack: () => void
}

/** Places under a name of their own. */
type Named = Places & { readonly name: string }

const noPlaces: Named = { places: [], leaseMs: 0, name: "" }

/**
 * Makes limits that all replicas of a service share through a store (Valkey 7.2, Redis 6.2 or newer). While the store is
 * unavailable, each replica uses its share: the limit divided by the number of replicas seen last. Each replica also always
 * counts locally. For 60 s after the store's return both must allow a request, because the store may have lost its counts.
 */
export const createSharedLimits = async (options: SharedOptions): Promise<Limits> => {
  const { prefix, service, timeoutMs, replicaId, now } = options
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
    options.onAway(reason)
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
      options.onBack()
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
  const ask = async (buckets: readonly Bucket[], places: Named): Promise<{ decision: Decision; full: number }> => {
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
  }

  /** Counts places here before the store is asked for them. */
  const reserve = (wanted: Places) => {
    const leaveHere = counts.enter(wanted.places)
    const named: Named = { ...wanted, name: `${replicaId}:${++placesTaken}` }
    return {
      named,
      cancel: leaveHere,
      /** @param full the number of the first full pool, or 0 */
      entry: (full: number): Entry => {
        const taken = wanted.places[full - 1]
        if (taken !== undefined) {
          leaveHere()
          return { full: taken }
        }
        if (wanted.renewed === true) held.add(named)
        return {
          leave: () => {
            held.delete(named)
            if (leaveHere()) release(named)
          },
        }
      },
    }
  }

  const enterHere = (wanted: Places): Entry => {
    const full = counts.fullPlace(wanted.places, share)
    if (full !== undefined) return { full }
    // Renewals reach the store when it is back.
    return wanted.renewed === true ? reserve(wanted).entry(0) : { leave: counts.enter(wanted.places) }
  }

  const take = async (buckets: readonly Bucket[], early?: Places): Promise<Taken> => {
    if (state === "away") return counts.take(buckets, share)
    // If this replica already knows that a bucket is full, no call is needed: a flood costs the store nothing.
    const full = counts.fullBucket(buckets, whole)
    if (full !== undefined) return full
    const own = mustBothAdmit() ? counts.take(buckets, share) : undefined
    if (own?.allowed === false) return own
    const reserved = early === undefined || own !== undefined ? undefined : reserve(early)
    try {
      const { decision, full: fullPool } = await ask(buckets, reserved?.named ?? noPlaces)
      if (own !== undefined && !decision.allowed) counts.undo(buckets)
      if (own === undefined && decision.allowed) counts.add(buckets)
      if (reserved !== undefined && decision.allowed) return { ...decision, entry: reserved.entry(fullPool) }
      reserved?.cancel()
      return decision
    } catch {
      reserved?.cancel()
      return own ?? counts.take(buckets, share)
    }
  }

  const enter = async (wanted: Places): Promise<Entry> => {
    if (state === "away") return enterHere(wanted)
    const full = mustBothAdmit() ? counts.fullPlace(wanted.places, share) : undefined
    if (full !== undefined) return { full }
    const reserved = reserve(wanted)
    try {
      return reserved.entry((await ask([], reserved.named)).full)
    } catch {
      reserved.cancel()
      return enterHere(wanted)
    }
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
