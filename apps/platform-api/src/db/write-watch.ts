import { refusesToStore } from "./errors.ts"

// After this time without a write, the state is unknown and counts as good.
const forgetMs = 300_000

/** Notes whether work fails because the database can't store anything. */
export const createWriteWatch = (now: () => number) => {
  let refusedAt = -Infinity
  const watch = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (refusesToStore(error)) refusedAt = now()
      throw error
    }
  }
  return {
    watch,
    /** The same for a transaction. Its success means that the database stores data again. */
    watchWrite: async <T>(work: Promise<T>): Promise<T> => {
      const result = await watch(work)
      refusedAt = -Infinity
      return result
    },
    stores: (): boolean => now() - refusedAt >= forgetMs,
  }
}
