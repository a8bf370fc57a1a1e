/**
 * Queues inside this process: work with the same name runs one after the other, in the order of the calls. Work that waits for the same account holds no connection, so a thousand calls with one
 * key don't occupy the database.
 */
export const createSerialQueues = () => {
  const last = new Map<string, Promise<void>>()
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
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
