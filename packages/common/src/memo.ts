const doors = 2 ** 12

/** A number from 1 to 2^32 - 1 for a text (FNV-1a over UTF-16 units; never 0). */
const hashOf = (key: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return hash >>> 0 || 1
}

/**
 * Remembers hashes of recent keys, for keys that mostly occur once: V8 interns a string before it looks it up in a Map, which
 * costs more than the look-up. If two keys have the same hash, the Map decides.
 */
const createDoorkeeper = () => {
  const latest = new Uint32Array(doors)
  return {
    knows: (key: string): boolean => {
      const hash = hashOf(key)
      return latest[hash % doors] === hash
    },
    /** Whether the key is known. */
    meets: (key: string): boolean => {
      const hash = hashOf(key)
      const known = latest[hash % doors] === hash
      latest[hash % doors] = hash
      return known
    },
  }
}

/**
 * A cache with a maximum size. It drops the entries that were not used for longest.
 *
 * Keeps two generations of half the maximum size. Used entries are in the young one. When it is full, it replaces the old one.
 * So a look-up rarely moves an entry. A single Map in the order of use would have to move an entry with each look-up, which
 * costs ten times as much in a large Map.
 *
 * @param maxEntries at least 2
 * @param maxSize the maximum sum of sizes, in the unit of `sizeOf`; an entry of more than half of it isn't kept
 * @param sizeOf must always return the same size for a value
 * @param fromSecondTime keeps a value only if its key was set recently, for keys that mostly occur once
 */
export const createMemo = <T>({
  maxEntries = Infinity,
  maxSize = Infinity,
  sizeOf = () => 0,
  fromSecondTime = false,
}: {
  readonly maxEntries?: number
  readonly maxSize?: number
  readonly sizeOf?: (value: T) => number
  readonly fromSecondTime?: boolean
}) => {
  const doorkeeper = fromSecondTime ? createDoorkeeper() : undefined
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
    get: (key: string): T | undefined => {
      if (doorkeeper?.knows(key) === false) return undefined
      const value = young.get(key)
      if (value !== undefined) return value
      const aged = old.get(key)
      return aged === undefined ? undefined : put(key, aged)
    },
    /** Returns the value. */
    set: (key: string, value: T): T => {
      if (doorkeeper?.meets(key) === false) return value
      drop(key)
      return put(key, value)
    },
    delete: drop,
    clear: (): void => {
      young.clear()
      old.clear()
      youngSize = 0
    },
  }
}
