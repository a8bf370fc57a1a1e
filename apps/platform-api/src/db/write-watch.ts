import { refusesToStore } from "./errors.ts"

export type WriteWatch = {
  /** Notes whether work failed because the database can't store anything. */
  readonly watch: <T>(work: Promise<T>) => Promise<T>
  /** The same for a transaction. Its success means that the database stores data again. */
  readonly watchWrite: <T>(work: Promise<T>) => Promise<T>
  readonly stores: () => boolean
}

// After this time without a write, the state is unknown and counts as good.
const forgetMs = 300_000

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
