/** Runs work with the same name one after the other, in the order of the calls. */
export type SerialQueues = <T>(name: string, work: () => Promise<T>) => Promise<T>

/**
 * Queues inside this process. Work that waits for the same account holds no connection, so a thousand calls with one
 * key don't occupy the database.
 */
export const createSerialQueues = (): SerialQueues => {
  const last = new Map<string, Promise<void>>()
  return async (name, work) => {
    const before = last.get(name)
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    last.set(name, over)
    try {
      await before
      return await work()
    } finally {
      if (last.get(name) === over) last.delete(name)
      end()
    }
  }
}
