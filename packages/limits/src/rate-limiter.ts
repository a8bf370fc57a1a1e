import { prefixesOf } from "./address-prefixes.ts"
import { advance, decrement, increment, openWindow, secondWhenGone, type Window, windowSeconds } from "./window.ts"

/** A decision about a request. With several buckets it is that of the one that refused, else of the first. */
export type Decision = {
  readonly allowed: boolean
  /** Requests still allowed now. */
  readonly remaining: number
  /** Whole seconds until a request is allowed again; 0 when this one was. */
  readonly retryAfterSeconds: number
  /** Whole seconds until the oldest counted request leaves the window. */
  readonly resetSeconds: number
  /** Whether the key is counted together with neighbours, because there was no room for its own count. */
  readonly shared: boolean
}

type Bucket = Window & { readonly name: string; readonly kind: string; readonly shared: boolean }

/**
 * Sliding-window counters in memory: at most `limit` requests of one key in any 60 seconds. At most `maxBuckets` keys of a
 * kind (IPv4, IPv6, others) have their own bucket, and only idle buckets are dropped. While all are busy, a new address is
 * counted by the narrowest prefix that has room. So a flood of addresses can't grow memory, displace another address's count,
 * or block anyone but its neighbours.
 * @param now a monotonic clock, in milliseconds
 * @param maxPrefixes the maximum number of buckets per prefix length
 */
export const createRateLimiter = ({
  now,
  maxBuckets = 100_000,
  maxPrefixes = Math.ceil(maxBuckets / 5),
}: {
  readonly now: () => number
  readonly maxBuckets?: number
  readonly maxPrefixes?: number
}) => {
  const buckets = new Map<string, Bucket>()
  const sizes = new Map<string, number>()
  let sharedBuckets = 0
  let sweptAt = -1

  const sweep = (second: number): void => {
    if (sweptAt === second) return
    sweptAt = second
    for (const bucket of buckets.values()) {
      if (bucket.total > 0 && second - bucket.second <= windowSeconds) continue
      buckets.delete(bucket.name)
      sizes.set(bucket.kind, (sizes.get(bucket.kind) ?? 0) - 1)
      if (bucket.shared) sharedBuckets--
    }
  }

  const hasRoom = (kind: string, most: number, second: number): boolean => {
    if ((sizes.get(kind) ?? 0) >= most) sweep(second)
    return (sizes.get(kind) ?? 0) < most
  }

  const isBusy = (bucket: Bucket, second: number): boolean => {
    advance(bucket, second)
    return bucket.total > 0
  }

  /** Finds or makes a bucket for a key that has none: its own, or one that it shares with its neighbours. */
  const bucketFor = (group: string, key: string, second: number): Bucket => {
    const prefixes = prefixesOf(key)
    const nameOf = (prefix: string): string => `${group}\0${prefix}`
    // A wider prefix may have counted requests of this key, so it keeps counting the key until it is idle.
    for (const { key: prefix } of sharedBuckets > 0 ? prefixes : []) {
      const wider = buckets.get(nameOf(prefix))
      if (wider !== undefined && isBusy(wider, second)) return wider
    }
    const index = prefixes.findIndex(({ kind }, at) => hasRoom(kind, at === 0 ? maxBuckets : maxPrefixes, second))
    // The last key, which all share, always has room.
    const { key: prefix, kind } = prefixes.at(index) ?? { key, kind: "" }
    const name = nameOf(prefix)
    const bucket = buckets.get(name) ?? { ...openWindow(second), name, kind, shared: prefix !== key }
    if (!buckets.has(name)) {
      sizes.set(kind, (sizes.get(kind) ?? 0) + 1)
      if (bucket.shared) sharedBuckets++
      buckets.set(name, bucket)
    }
    return bucket
  }

  const find = (group: string, key: string, time: number): Bucket => {
    const second = Math.floor(time / 1000)
    const bucket = buckets.get(`${group}\0${key}`) ?? bucketFor(group, key, second)
    advance(bucket, second)
    return bucket
  }

  const decide = (bucket: Bucket, allowed: boolean, limit: number, time: number): Decision => {
    const secondsUntil = (count: number) => Math.max(1, Math.ceil(secondWhenGone(bucket, count) - time / 1000))
    return {
      allowed,
      remaining: Math.max(0, limit - bucket.total),
      retryAfterSeconds: allowed ? 0 : limit <= 0 ? windowSeconds : secondsUntil(bucket.total - limit + 1),
      resetSeconds: bucket.total === 0 ? 0 : secondsUntil(1),
      shared: bucket.shared,
    }
  }

  return {
    /** Counts one request against `key` of `group`; a refused request isn't counted. */
    take: (group: string, key: string, limit: number): Decision => {
      const time = now()
      const bucket = find(group, key, time)
      const allowed = bucket.total < limit
      if (allowed) increment(bucket)
      return decide(bucket, allowed, limit, time)
    },
    /** The decision that `take` would return. Counts nothing. */
    peek: (group: string, key: string, limit: number): Decision => {
      const time = now()
      const bucket = find(group, key, time)
      return decide(bucket, bucket.total < limit, limit, time)
    },
    /** Removes the newest count, because its request was refused elsewhere. */
    undo: (group: string, key: string): void => decrement(find(group, key, now())),
    size: () => buckets.size,
  }
}

export type RateLimiter = ReturnType<typeof createRateLimiter>
