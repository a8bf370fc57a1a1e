/** What a bucket said to one request. */
export type LimiterDecision = {
  readonly allowed: boolean
  /** Requests still allowed now. */
  readonly remaining: number
  /** Whole seconds until a request is allowed again; 0 when this one was. */
  readonly retryAfterSeconds: number
  /** Whole seconds until the oldest counted request leaves the window. */
  readonly resetSeconds: number
}

export type Limiter = {
  /** Counts one request against `key` of `group`; a refused request is not counted. */
  readonly take: (group: string, key: string, limit: number) => LimiterDecision
  /** What `take` would say; counts nothing. */
  readonly peek: (group: string, key: string, limit: number) => LimiterDecision
  /** Counts a request that somebody else has admitted. */
  readonly add: (group: string, key: string) => void
  /** Takes the newest count back: its request was refused elsewhere. */
  readonly giveBack: (group: string, key: string) => void
  /** Buckets held now. */
  readonly size: () => number
}

type Bucket = { readonly slab: Uint32Array; readonly at: number; total: number; last: number }

const windowMs = 60_000
const cellMs = 1000
const cells = windowMs / cellMs + 1
const slabBuckets = 1024

/**
 * Sliding-window counters in memory: never more than `limit` requests in any minute, not just in a calendar one. Counts
 * stand in cells of a second; a cell leaves only when all of it is older than the window. At most `maxBuckets` keys are
 * held; only idle ones are dropped, and while all are busy further keys share one overflow bucket a group, so that a
 * flood of addresses can neither grow memory nor push another's count out.
 * @param now a monotonic clock, in milliseconds
 */
export const createLimiter = ({
  now,
  maxBuckets = 100_000,
}: {
  readonly now: () => number
  readonly maxBuckets?: number
}): Limiter => {
  const buckets = new Map<string, Bucket>()
  const overflow = new Map<string, Bucket>()
  // Cells live in shared slabs: 244 bytes a bucket instead of an object with a list of its own.
  const free: { slab: Uint32Array; at: number }[] = []
  let sweptAt = -1

  const allocate = (cell: number): Bucket => {
    let place = free.pop()
    if (place === undefined) {
      const slab = new Uint32Array(cells * slabBuckets)
      for (let i = slabBuckets - 1; i > 0; i--) free.push({ slab, at: i * cells })
      place = { slab, at: 0 }
    }
    return { ...place, total: 0, last: cell }
  }

  const sweep = (cell: number): void => {
    if (sweptAt === cell) return
    sweptAt = cell
    for (const [key, bucket] of buckets) {
      if (cell - bucket.last < cells) continue
      bucket.slab.fill(0, bucket.at, bucket.at + cells)
      free.push({ slab: bucket.slab, at: bucket.at })
      buckets.delete(key)
    }
  }

  const find = (group: string, key: string, cell: number): Bucket => {
    const name = `${group}\0${key}`
    const known = buckets.get(name)
    if (known !== undefined) return known
    if (buckets.size >= maxBuckets) sweep(cell)
    const [map, place] = buckets.size < maxBuckets ? [buckets, name] : [overflow, group]
    let bucket = map.get(place)
    if (bucket === undefined) map.set(place, (bucket = allocate(cell)))
    return bucket
  }

  const advance = (bucket: Bucket, cell: number): void => {
    const steps = Math.min(cells, cell - bucket.last)
    for (let i = 1; i <= steps; i++) {
      const at = bucket.at + ((bucket.last + i) % cells)
      bucket.total -= bucket.slab[at] ?? 0
      bucket.slab[at] = 0
    }
    bucket.last = Math.max(bucket.last, cell)
  }

  /** Milliseconds until at least `count` of the counted requests have left. */
  const untilGone = (bucket: Bucket, count: number, time: number): number => {
    const oldest = bucket.last - cells + 1
    let gone = 0
    for (let cell = oldest; cell <= bucket.last; cell++) {
      gone += bucket.slab[bucket.at + (((cell % cells) + cells) % cells)] ?? 0
      if (gone >= count) return (cell + cells) * cellMs - time
    }
    return windowMs
  }

  const current = (group: string, key: string, time: number): Bucket => {
    const cell = Math.floor(time / cellMs)
    const bucket = find(group, key, cell)
    advance(bucket, cell)
    return bucket
  }

  const change = (bucket: Bucket, cell: number, by: 1 | -1): void => {
    const at = bucket.at + (cell % cells)
    bucket.slab[at] = (bucket.slab[at] ?? 0) + by
    bucket.total += by
  }

  const decide = (bucket: Bucket, allowed: boolean, limit: number, time: number): LimiterDecision => {
    const seconds = (count: number) => Math.max(1, Math.ceil(untilGone(bucket, count, time) / 1000))
    return {
      allowed,
      remaining: Math.max(0, limit - bucket.total),
      retryAfterSeconds: allowed ? 0 : limit <= 0 ? windowMs / 1000 : seconds(bucket.total - limit + 1),
      resetSeconds: bucket.total === 0 ? 0 : seconds(1),
    }
  }

  return {
    take: (group, key, limit) => {
      const time = now()
      const bucket = current(group, key, time)
      const allowed = bucket.total < limit
      if (allowed) change(bucket, bucket.last, 1)
      return decide(bucket, allowed, limit, time)
    },
    peek: (group, key, limit) => {
      const time = now()
      const bucket = current(group, key, time)
      return decide(bucket, bucket.total < limit, limit, time)
    },
    add: (group, key) => {
      const bucket = current(group, key, now())
      change(bucket, bucket.last, 1)
    },
    giveBack: (group, key) => {
      const bucket = current(group, key, now())
      for (let cell = bucket.last; cell > bucket.last - cells && cell >= 0; cell--) {
        if ((bucket.slab[bucket.at + (cell % cells)] ?? 0) > 0) return change(bucket, cell, -1)
      }
    },
    size: () => buckets.size,
  }
}
