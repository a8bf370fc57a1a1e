/** A bounded store: past its bounds the entries that were not asked for longest go. */
export type Memo<T> = {
  readonly get: (key: string) => T | undefined
  /** Gives the value back. */
  readonly set: (key: string, value: T) => T
  readonly delete: (key: string) => void
  readonly clear: () => void
}

/**
 * Keeps two generations, each of half the bounds: what is put in or asked for is in the young one, and when that is full the
 * old one is dropped and the young one takes its place. A look-up changes nothing but for what is old: one Map in the order
 * of use would have to take each entry out and in again, which costs ten times as much once it is large.
 *
 * @param maxEntries at least 2
 * @param maxSize what the sizes of all entries may add up to, in the unit of `sizeOf`; an entry of more than half is not kept
 * @param sizeOf must say the same of a value each time
 */
export const createMemo = <T>({
  maxEntries = Infinity,
  maxSize = Infinity,
  sizeOf = () => 0,
}: {
  readonly maxEntries?: number
  readonly maxSize?: number
  readonly sizeOf?: (value: T) => number
}): Memo<T> => {
  const halfEntries = Math.floor(maxEntries / 2)
  const halfSize = maxSize / 2
  let young = new Map<string, T>()
  let old = new Map<string, T>()
  let youngSize = 0
  const put = (key: string, value: T): T => {
    const size = sizeOf(value)
    if (size > halfSize) return value
    if (young.size >= halfEntries || youngSize + size > halfSize) {
      old = young
      young = new Map()
      youngSize = 0
    }
    young.set(key, value)
    youngSize += size
    return value
  }
  const drop = (key: string): void => {
    old.delete(key)
    const value = young.get(key)
    if (value === undefined) return
    young.delete(key)
    youngSize -= sizeOf(value)
  }
  return {
    get: (key) => {
      const value = young.get(key)
      if (value !== undefined) return value
      const aged = old.get(key)
      return aged === undefined ? undefined : put(key, aged)
    },
    set: (key, value) => {
      drop(key)
      return put(key, value)
    },
    delete: drop,
    clear: () => {
      young.clear()
      old.clear()
      youngSize = 0
    },
  }
}
