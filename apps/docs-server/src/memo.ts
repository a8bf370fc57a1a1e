/** A bounded store: past its bounds the entries that were not asked for longest go. */
export type Memo<T> = {
  readonly get: (key: string) => T | undefined
  readonly set: (key: string, value: T) => void
  readonly clear: () => void
}

export const createMemo = <T>({
  maxEntries,
  maxSize,
  sizeOf,
}: {
  readonly maxEntries: number
  readonly maxSize: number
  readonly sizeOf: (value: T) => number
}): Memo<T> => {
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
    },
    clear: () => {
      entries.clear()
      size = 0
    },
  }
}
