import type { Decision } from "./rate-limiter.ts"
import { decideScript } from "./scripts.ts"
import type { Limited } from "./store-keys.ts"
import { startTimeout, type Store, StoreTimeout } from "./store.ts"

/** What one request asks of the store. */
export type Ask = {
  /** All are counted or none. */
  readonly buckets: readonly Limited[]
  /** A place is taken in all of these or in none, and in none unless the buckets have room. */
  readonly pools: readonly Limited[]
  /** The places' name in those pools. */
  readonly place: string
  readonly leaseMs: number
}

/** The store's answer: the decision about the buckets, and the number of the first full pool (0 when there is none). */
export type Answer = { readonly decision: Decision; readonly full: number }

/** Extends the lease of places. */
export type Renewal = Pick<Ask, "pools" | "place" | "leaseMs">

type Waiting = Ask & { readonly resolve: (answer: Answer) => void; readonly reject: (reason: unknown) => void }

type Batch = {
  readonly asks: Waiting[]
  readonly releases: { readonly key: string; readonly place: string }[]
  readonly renewals: Map<string, Renewal>
  /** Its requests have been decided without the store. */
  failed: boolean
}

// The store does nothing else while a script runs, about 10 µs per request.
const mostAtOnce = 200
// How long requests wait for the previous call to return.
const patienceMs = 5

const write = ({ asks, releases, renewals }: Batch): { keys: string[]; args: string[] } => {
  const numbers = new Map<string, string>()
  const keys: string[] = []
  const args: string[] = []
  const numberOf = (key: string): string => numbers.getOrInsertComputed(key, () => String(keys.push(key)))
  const limited = (all: readonly Limited[]): void => {
    args.push(String(all.length))
    for (const { key, limit } of all) args.push(numberOf(key), String(limit))
  }
  args.push(String(releases.length))
  for (const { key, place } of releases) args.push(numberOf(key), place)
  const renewed = [...renewals.values()].flatMap(({ pools, place, leaseMs }) =>
    pools.map(({ key }) => [numberOf(key), place, String(leaseMs)]),
  )
  args.push(String(renewed.length), ...renewed.flat())
  for (const { buckets, pools, place, leaseMs } of asks) {
    limited(buckets)
    limited(pools)
    if (pools.length > 0) args.push(place, String(leaseMs))
  }
  return { keys, args }
}

/**
 * Asks the store about many requests in one call, because a call costs far more than a decision. Requests that arrive during
 * a call go out with the next one: when that call returns, or at most 5 ms after it was sent.
 * @param timeoutMs how long a call may take from when it was sent
 * @param now a monotonic clock, in milliseconds
 */
export const createBatches = (store: Store, timeoutMs: number, now: () => number) => {
  let waiting: Batch[] = []
  const calls = new Set<Batch>()
  let sentAt = -Infinity
  let flushTimer: NodeJS.Timeout | undefined

  const succeed = (batch: Batch, reply: unknown): void => {
    const numbers = Array.isArray(reply) ? reply.map(Number) : []
    for (const [index, { pools, place, resolve }] of batch.asks.entries()) {
      const at = index * 5
      const [allowed, remaining = 0, retryAfterSeconds = 1, resetSeconds = 0, full = 0] = numbers.slice(at, at + 5)
      const decision = { allowed: allowed === 1, remaining, retryAfterSeconds, resetSeconds, shared: false }
      // The places were granted too late, so they are given back.
      if (batch.failed && decision.allowed && full === 0) for (const { key } of pools) release(key, place)
      resolve({ decision, full })
    }
  }

  const fail = (batch: Batch, error: unknown): void => {
    if (batch.failed) return
    batch.failed = true
    for (const { reject } of batch.asks) reject(error)
    // A store without memory rejects counting, but not releasing.
    if (batch.asks.length > 0) for (const { key, place } of batch.releases) release(key, place)
  }

  const failAll = (): void => {
    const late = [...calls, ...waiting]
    calls.clear()
    waiting = []
    for (const batch of late) fail(batch, new StoreTimeout(`no reply within ${timeoutMs} ms`))
  }

  const call = async (batch: Batch): Promise<void> => {
    const { keys, args } = write(batch)
    sentAt = now()
    calls.add(batch)
    const stopTimeout = startTimeout(timeoutMs, now, failAll)
    try {
      succeed(batch, await store.run(decideScript, keys, args))
    } catch (error) {
      fail(batch, error)
    }
    stopTimeout()
    calls.delete(batch)
    // Requests that were just decided may ask again in this turn of the event loop.
    if (waiting.length > 0) setImmediate(flush)
  }

  const flush = (): void => {
    const restMs = calls.size === 0 ? 0 : sentAt + patienceMs - now()
    if (restMs > 0) {
      flushTimer ??= setTimeout(() => {
        flushTimer = undefined
        flush()
      }, restMs).unref()
      return
    }
    const batch = waiting.shift()
    if (batch === undefined) return
    void call(batch)
    if (waiting.length > 0) flush()
  }

  const gather = (): Batch => {
    let batch = waiting.at(-1)
    const size = batch === undefined ? mostAtOnce : batch.asks.length + batch.releases.length + batch.renewals.size
    if (batch === undefined || size >= mostAtOnce) {
      batch = { asks: [], releases: [], renewals: new Map(), failed: false }
      waiting.push(batch)
      setImmediate(flush)
    }
    return batch
  }

  const release = (key: string, place: string): void => {
    for (const { renewals } of waiting) renewals.delete(place)
    gather().releases.push({ key, place })
  }

  return {
    /** Decides about one request. Rejects if the store is unavailable or too slow. */
    ask: (asked: Ask): Promise<Answer> =>
      new Promise((resolve, reject) => {
        gather().asks.push({ ...asked, resolve, reject })
      }),
    /** Releases a place, without waiting for the store. */
    release,
    /** Renews places, even if the store has lost them, without waiting for it. */
    renew: (renewal: Renewal): void => void gather().renewals.set(renewal.place, renewal),
    close: (): void => clearTimeout(flushTimer),
  }
}
