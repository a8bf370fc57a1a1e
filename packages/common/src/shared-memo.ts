import { createMemo } from "./memo.ts"

/**
 * A cache that makes a value when it is first needed. Concurrent callers share the work, and failures aren't kept.
 * @param bounds those of a memo
 */
export const createSharedMemo = <T>(bounds: Parameters<typeof createMemo<T>>[0]) => {
  const memo = createMemo<T>(bounds)
  const making = new Map<string, Promise<T>>()
  return {
    /** Returns a value that has been made already. */
    get: memo.get,
    make: async (key: string, make: () => Promise<T>): Promise<T> => {
      const known = memo.get(key)
      if (known !== undefined) return known
      const begun = making.get(key)
      if (begun !== undefined) return begun
      const made = make().finally(() => making.delete(key))
      making.set(key, made)
      return memo.set(key, await made)
    },
  }
}
