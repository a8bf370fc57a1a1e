import { createBatches, StoreTimeout } from "./batch.ts"
import type { Bucket, Decision, Entry, Limits, Place } from "./limits.ts"
import { createLocalCounts } from "./local.ts"
import { announceScript } from "./scripts.ts"
import { createStoreKeys } from "./store-keys.ts"
import { connectStore, reasonOf } from "./store.ts"

const announceMs = 5000
const probeMs = 1000
const bothMs = 60_000

export type SharedOptions = {
  /** redis:// or rediss://, password and all: never shown. */
  readonly url: string
  readonly prefix: string
  /** Whose replicas share the limits. */
  readonly service: string
  /** How long one request may wait for the store in all, in milliseconds. */
  readonly timeoutMs: number
  /** Replicas that are counted on at least while the store is away. */
  readonly replicas: number
  /** Another one for each process. */
  readonly replicaId: string
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Told once an outage, and once when it is over. */
  readonly onAway: (reason: string) => void
  readonly onBack: () => void
}

/** Rejects when a reply takes longer; one that is there already is read first, however late this process comes to it. */
const within = <T>(ms: number, reply: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    // After the timer's own phase sockets are read once more, then immediates run.
    const timer = setTimeout(() => setImmediate(() => reject(new StoreTimeout("no reply in time"))), ms)
    reply.then(resolve, reject).finally(() => clearTimeout(timer))
  })

const reasonText = (error: unknown): string => (error instanceof StoreTimeout ? error.message : reasonOf(error))

/**
 * Makes limits that all replicas of a service share by a store (Valkey 7.2, Redis 6.2 or newer). While it is away each
 * replica goes on with its share: the limit divided by the replicas seen last. All the time it also counts locally, and
 * for 60 s after the store's return both must admit, as the store may come back empty.
 */
export const createSharedLimits = async (options: SharedOptions): Promise<Limits> => {
  const { prefix, service, timeoutMs, replicaId, now } = options
  const counts = createLocalCounts({ now })
  let state: "away" | "shared" = "away"
  /** Until then the local share must admit too. */
  let bothUntil = -Infinity
  let replicas = Math.max(1, options.replicas)
  let places = 0
  let told = false
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const whole = (limit: number): number => limit
  const share = (limit: number): number => (limit <= 0 ? limit : Math.max(1, Math.floor(limit / replicas)))

  const schedule = (ms: number): void => {
    clearTimeout(timer)
    if (!closed) timer = setTimeout(() => void round(), ms).unref()
  }

  const away = (reason: string): void => {
    if (state === "shared") schedule(probeMs)
    state = "away"
    if (told || closed) return
    told = true
    options.onAway(reason)
  }
  const store = await connectStore(options.url, away)

  const keys = createStoreKeys(prefix, service)
  const batches = createBatches(store, now)

  const announce = async (stays: boolean): Promise<void> => {
    // Back is a store that answers in the time that requests have; one that is slower would be away again at once.
    const ms = told ? Math.min(timeoutMs, probeMs) : probeMs
    const seen = await within(ms, store.run(announceScript, [keys.replicas], [replicaId, stays ? "1" : "0"]))
    replicas = Math.max(1, options.replicas, Number(seen))
  }

  // The announcement is the probe too: as it writes, a store that is full does not count as back.
  const round = async (): Promise<void> => {
    try {
      await announce(true)
      if (state === "away") {
        state = "shared"
        bothUntil = told ? now() + bothMs : bothUntil
        if (told) options.onBack()
        told = false
      }
    } catch (error) {
      away(reasonText(error))
    }
    schedule(state === "away" ? probeMs : announceMs)
  }

  const turn = () => {
    let leftMs = timeoutMs
    const ask = async <T>(reply: (deadline: number) => Promise<T>): Promise<T> => {
      const from = now()
      try {
        return await reply(from + leftMs)
      } finally {
        leftMs -= now() - from
      }
    }

    const enterHere = (wanted: readonly Place[]): Entry => {
      const full = counts.fullPlace(wanted, share)
      if (full !== undefined) return { full }
      counts.enter(wanted)
      return { leave: () => counts.leave(wanted) }
    }

    return {
      take: async (buckets: readonly Bucket[]): Promise<Decision> => {
        if (state === "away") return counts.take(buckets, share)
        // What this replica alone knows to be full needs no store: a flood asks it nothing.
        const full = counts.fullBucket(buckets, whole)
        if (full !== undefined) return full
        const own = now() < bothUntil ? counts.take(buckets, share) : undefined
        if (own?.allowed === false) return own
        let decision: Decision
        try {
          decision = await ask((deadline) => batches.take(buckets.map(keys.bucket), deadline))
        } catch (error) {
          away(reasonText(error))
          return own ?? counts.take(buckets, share)
        }
        if (own !== undefined && !decision.allowed) counts.giveBack(buckets)
        if (own === undefined && decision.allowed) counts.add(buckets)
        return decision
      },

      enter: async (wanted: readonly Place[], leaseMs: number): Promise<Entry> => {
        if (state === "away") return enterHere(wanted)
        const full = now() < bothUntil ? counts.fullPlace(wanted, share) : undefined
        if (full !== undefined) return { full }
        counts.enter(wanted)
        const id = `${replicaId}:${++places}`
        const pools = wanted.map(keys.place)
        let number: number
        try {
          number = await ask((deadline) => batches.enter(id, leaseMs, pools, deadline))
        } catch (error) {
          away(reasonText(error))
          counts.leave(wanted)
          return enterHere(wanted)
        }
        const taken = wanted[number - 1]
        if (taken !== undefined) {
          counts.leave(wanted)
          return { full: taken }
        }
        return {
          leave: () => {
            counts.leave(wanted)
            for (const pool of pools) batches.leave(pool.key, id)
          },
        }
      },
    }
  }

  await round()
  return {
    turn,
    peek: (bucket) => counts.peek(bucket, state === "away" ? share : whole),
    mode: () => (state === "shared" ? "shared" : "local"),
    close: async () => {
      closed = true
      clearTimeout(timer)
      batches.close()
      if (state === "shared") await announce(false).catch(() => {})
      store.close()
    },
  }
}
