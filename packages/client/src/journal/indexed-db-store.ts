import type { Store } from "./store.ts"

/**
 * A store in the browser's IndexedDB database `name`, for all tabs and workers of an origin. It asks the browser not to evict
 * the origin's data.
 *
 * @example
 * const journal = createJournal({ relay, store: indexedDbStore("payments") })
 */
export const indexedDbStore = (name: string): Store => {
  let opened: Store | undefined
  const store = async (): Promise<Store> => (opened ??= (await import("./indexed-db.ts")).openIndexedDb(name))
  return {
    get: async (id) => (await store()).get(id),
    put: async (...record) => (await store()).put(...record),
    list: async () => (await store()).list(),
    remove: async (...version) => (await store()).remove(...version),
  }
}
