/** A bounded store: past its bounds the entries that were not asked for longest go. */
export type Memo<T> = {
  readonly get: (key: string) => T | undefined
  /** Gives the value back. */
  readonly set: (key: string, value: T) => T
  readonly delete: (key: string) => void
  readonly clear: () => void
}

const doors = 2 ** 12

/** A number from 1 to 2^32 - 1 for a text (FNV-1a over UTF-16 units; never 0). */
const hashOf = (key: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return hash >>> 0 || 1
}

/**
 * Knows whether a key came lately, by its hash, where most come once: V8 makes each string that a Map is asked for one of
 * its own first, which costs more than the look-up. That two keys have one hash does no harm, the Map is asked then.
 */
const createDoorkeeper = () => {
  const latest = new Uint32Array(doors)
  return {
    knows: (key: string): boolean => {
      const hash = hashOf(key)
      return latest[hash % doors] === hash
    },
    /** Whether it knew the key before. */
    meets: (key: string): boolean => {
      const hash = hashOf(key)
      const known = latest[hash % doors] === hash
      latest[hash % doors] = hash
      return known
    },
  }
}

/**
 * Keeps two generations, each of half the bounds: what is put in or asked for is in the young one, and when that is full the
 * old one is dropped and the young one takes its place. A look-up changes nothing but for what is old: one Map in the order
 * of use would have to take each entry out and in again, which costs ten times as much once it is large.
 *
 * @param maxEntries at least 2
 * @param maxSize what the sizes of all entries may add up to, in the unit of `sizeOf`; an entry of more than half is not kept
 * @param sizeOf must say the same of a value each time
 * @param fromSecondTime keeps a value only when its key was set before, not too many others ago: for keys that mostly come once
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
}): Memo<T> => {
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
    get: (key) => {
      if (doorkeeper?.knows(key) === false) return undefined
      const value = young.get(key)
      if (value !== undefined) return value
      const aged = old.get(key)
      return aged === undefined ? undefined : put(key, aged)
    },
    set: (key, value) => {
      if (doorkeeper?.meets(key) === false) return value
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
