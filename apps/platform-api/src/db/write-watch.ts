import { refusesToStore } from "./errors.ts"

export type WriteWatch = {
  /** Does some work on the database, and notes when it says that it can store nothing. */
  readonly watch: <T>(work: Promise<T>) => Promise<T>
  /** The same for a transaction: its success says that the database stores again. */
  readonly watchWrite: <T>(work: Promise<T>) => Promise<T>
  readonly stores: () => boolean
}

// A database that nobody writes to for so long has given no sign either way.
const forgetMs = 300_000

/** @param now a monotonic clock, in milliseconds */
export const createWriteWatch = (now: () => number): WriteWatch => {
  let refusedAt = -Infinity
  const watch: WriteWatch["watch"] = async (work) => {
    try {
      return await work
    } catch (error) {
      if (refusesToStore(error)) refusedAt = now()
      throw error
    }
  }
  return {
    watch,
    watchWrite: async (work) => {
      const result = await watch(work)
      refusedAt = -Infinity
      return result
    },
    stores: () => now() - refusedAt >= forgetMs,
  }
}
