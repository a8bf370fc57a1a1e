/** A bounded store: past its bounds the entries that were not asked for longest go. */
export type Memo<T> = {
  readonly get: (key: string) => T | undefined
  /** Gives the value back. */
  readonly set: (key: string, value: T) => T
  readonly delete: (key: string) => void
  readonly clear: () => void
}

/**
 * @param maxSize what the sizes of all entries may add up to, in the unit of `sizeOf`; a larger entry is not kept
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
  // A Map goes through its entries in the order in which they were put in.
  const entries = new Map<string, T>()
  let size = 0
  const drop = (key: string): void => {
    const value = entries.get(key)
    if (value === undefined) return
    entries.delete(key)
    size -= sizeOf(value)
  }
  return {
    get: (key) => {
      const value = entries.get(key)
      if (value === undefined) return undefined
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set: (key, value) => {
      drop(key)
      entries.set(key, value)
      size += sizeOf(value)
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && size <= maxSize) break
        drop(oldest)
      }
      return value
    },
    delete: drop,
    clear: () => {
      entries.clear()
      size = 0
    },
  }
}
