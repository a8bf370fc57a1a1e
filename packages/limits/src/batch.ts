import type { Decision } from "./limits.ts"
import { decideScript } from "./scripts.ts"
import type { Limited } from "./store-keys.ts"
import type { Store } from "./store.ts"

/** The store's answer did not come in time. */
export class StoreTimeout extends Error {
  override readonly name = "StoreTimeout"
}

type Take = { readonly buckets: readonly Limited[]; readonly tell: Told<Decision> }
type Enter = {
  readonly place: string
  readonly leaseMs: number
  readonly pools: readonly Limited[]
  readonly tell: Told<number>
}
type Told<T> = { readonly resolve: (answer: T) => void; readonly reject: (reason: unknown) => void }

type Batch = {
  readonly takes: Take[]
  readonly gifts: { readonly key: string; readonly place: string }[]
  readonly enters: Enter[]
  /** When the first of its requests has waited long enough. */
  deadline: number
  /** Its requests have gone on without the store. */
  failed: boolean
}

// A script holds the server up while it runs: 10 µs a request.
const mostAtOnce = 200
const giftMs = 1000

const write = ({ takes, gifts, enters }: Batch): { keys: string[]; args: string[] } => {
  const numbers = new Map<string, string>()
  const keys: string[] = []
  const args: string[] = []
  const numberOf = (key: string): string => {
    let number = numbers.get(key)
    if (number === undefined) numbers.set(key, (number = String(keys.push(key))))
    return number
  }
  const limited = (all: readonly Limited[]): void => {
    args.push(String(all.length))
    for (const { key, limit } of all) args.push(numberOf(key), String(limit))
  }
  args.push(String(takes.length))
  for (const { buckets } of takes) limited(buckets)
  args.push(String(gifts.length))
  for (const { key, place } of gifts) args.push(numberOf(key), place)
  for (const { place, leaseMs, pools } of enters) {
    args.push(place, String(leaseMs))
    limited(pools)
  }
  return { keys, args }
}

/**
 * Asks the store for all requests in few calls: one call is under way at a time, and what is asked meanwhile goes out with
 * the next. A call costs both sides far more than what is decided in it.
 * @param now a monotonic clock, in milliseconds
 */
export const createBatches = (store: Store, now: () => number) => {
  let asked: Batch | undefined
  const waiting: Batch[] = []
  let timer: NodeJS.Timeout | undefined
  let timerAt = Infinity

  const earliest = (): number =>
    waiting.reduce((least, { deadline }) => Math.min(least, deadline), asked?.deadline ?? Infinity)

  const answer = (batch: Batch, reply: unknown): void => {
    const answers = Array.isArray(reply) ? reply.map(Number) : []
    let at = 0
    for (const { tell } of batch.takes) {
      const [allowed, remaining = 0, retryAfterSeconds = 1, resetSeconds = 0] = answers.slice(at, (at += 4))
      tell.resolve({ allowed: allowed === 1, remaining, retryAfterSeconds, resetSeconds })
    }
    for (const { place, pools, tell } of batch.enters) {
      const full = answers[at++] ?? 0
      // Granted too late to be used.
      if (batch.failed && full === 0) for (const { key } of pools) leave(key, place)
      tell.resolve(full)
    }
  }

  const fail = (batch: Batch, error: unknown): void => {
    batch.failed = true
    for (const { tell } of [...batch.takes, ...batch.enters]) tell.reject(error)
    // A full store refuses what counts, not what frees.
    if (batch.takes.length + batch.enters.length > 0) for (const { key, place } of batch.gifts) leave(key, place)
  }

  const ask = async (batch: Batch): Promise<void> => {
    const { keys, args } = write(batch)
    try {
      answer(batch, await store.run(decideScript, keys, args))
    } catch (error) {
      fail(batch, error)
    }
    if (asked === batch) asked = undefined
    // Who was answered just now may ask for more in this turn of the event loop.
    if (waiting.length > 0) setImmediate(flush)
  }

  const flush = (): void => {
    if (asked !== undefined) return
    asked = waiting.shift()
    if (asked !== undefined) void ask(asked)
  }

  const giveUp = (): void => {
    if (now() < earliest()) return watch()
    const late = waiting.splice(0)
    if (asked !== undefined) late.push(asked)
    asked = undefined
    for (const batch of late) fail(batch, new StoreTimeout("no reply in time"))
  }

  /** Lets nobody wait beyond a deadline. A timer that finds nothing due is cheaper than one set and cleared with each call. */
  const watch = (): void => {
    const at = earliest()
    if (at >= timerAt) return
    clearTimeout(timer)
    timerAt = at
    const due = (): void => {
      timerAt = Infinity
      // After the timers' own phase sockets are read once more, then immediates run: a reply that is there already counts.
      if (now() < earliest()) watch()
      else setImmediate(giveUp)
    }
    timer = setTimeout(due, Math.ceil(Math.max(0, at - now()))).unref()
  }

  const gather = (deadline: number): Batch => {
    let batch = waiting.at(-1)
    if (batch === undefined || batch.takes.length + batch.gifts.length + batch.enters.length >= mostAtOnce) {
      batch = { takes: [], gifts: [], enters: [], deadline, failed: false }
      waiting.push(batch)
      if (asked === undefined) setImmediate(flush)
    }
    batch.deadline = Math.min(batch.deadline, deadline)
    if (deadline < timerAt) watch()
    return batch
  }

  const leave = (key: string, place: string): void => {
    gather(now() + giftMs).gifts.push({ key, place })
  }

  return {
    /** Counts a request against all of these buckets or none. Rejects when the store can't be used, or not by the deadline. */
    take: (buckets: readonly Limited[], deadline: number): Promise<Decision> =>
      new Promise((resolve, reject) => {
        gather(deadline).takes.push({ buckets, tell: { resolve, reject } })
      }),
    /** Takes a place in all of these pools or in none: 0, or the number of the pool that is full. Rejects like `take`. */
    enter: (place: string, leaseMs: number, pools: readonly Limited[], deadline: number): Promise<number> =>
      new Promise((resolve, reject) => {
        gather(deadline).enters.push({ place, leaseMs, pools, tell: { resolve, reject } })
      }),
    /** Gives a place back; nobody waits for it. */
    leave,
    close: (): void => clearTimeout(timer),
  }
}
