/** Runs work so that what is done under one name goes one after the other, in the order of the calls. */
export type Turns = <T>(name: string, work: () => Promise<T>) => Promise<T>

/**
 * Turns inside this process: who waits for what one account does already holds no connection meanwhile, so that a thousand
 * calls with one key leave the database to everybody else.
 */
export const createTurns = (): Turns => {
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
