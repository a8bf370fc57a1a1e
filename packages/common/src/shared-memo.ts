import { createMemo } from "./memo.ts"

/** A memo of what is made when it is first asked for: those who ask meanwhile wait for it, and a failure is not kept. */
export type SharedMemo<T> = {
  /** What is there already. */
  readonly get: (key: string) => T | undefined
  readonly make: (key: string, make: () => Promise<T>) => Promise<T>
}

/** @param bounds as a memo has them */
export const createSharedMemo = <T>(bounds: Parameters<typeof createMemo<T>>[0]): SharedMemo<T> => {
  const memo = createMemo<T>(bounds)
  const making = new Map<string, Promise<T>>()
  return {
    get: memo.get,
    make: async (key, make) => {
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
