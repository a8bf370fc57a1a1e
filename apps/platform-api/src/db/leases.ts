import type pg from "pg"
import { createTurns } from "./turns.ts"
import { DatabaseUnavailable, explain, hasCode, OutcomeUnknown, unavailable } from "./errors.ts"

/** A task's hold on a connection. */
export type Lease = {
  /** Whether COMMIT has been sent and not been answered. */
  committing: boolean
}

type Work<T> = (client: pg.PoolClient, lease: Lease) => Promise<T>

export type Leases = {
  /**
   * Lends a connection to one task until a moment, at which a connection that still owes an answer is destroyed. Rejects
   * with DatabaseUnavailable, OutcomeUnknown, or what the work throws.
   * @param deadline by the monotonic clock
   * @param turn tasks of one name go one after the other, and wait without a connection
   */
  readonly take: <T>(deadline: number, work: Work<T>, turn?: string) => Promise<T>
  /** Destroys every connection at once: what is under way rejects. */
  readonly cut: () => void
}

// From this end and without a word: a server that does not listen hears no goodbye.
const destroy = (client: pg.Client): void => void client.connection.stream.destroy()
const isLost = (client: pg.Client): boolean => client.connection.stream.destroyed

/**
 * Puts time limits on a pool's connections. When a task has waited out its time and no connection gave an answer
 * meanwhile, all of them may be dead without a word: they are cut, and the next ones are attempted singly until one
 * succeeds, because a frozen server has to see to every attempt of that time when it wakes.
 * @param now a monotonic clock, in milliseconds
 */
export const createLeases = (pool: pg.Pool, now: () => number): Leases => {
  const clients = new Set<pg.PoolClient>()
  const turns = createTurns()
  let answeredAt = now()
  let silence: Promise<void> | undefined

  // A connection that breaks says so by an event besides, which would end the process if nobody listened. The server's
  // word that it closes comes before it does.
  pool.on("error", () => {})
  pool.on("connect", (client) => {
    clients.add(client)
    client.on("error", () => destroy(client))
    client.on("end", () => clients.delete(client))
  })

  const cut = (): void => clients.forEach(destroy)

  const untilAnswered = async (): Promise<void> => {
    while (!pool.ending) {
      try {
        const client = await pool.connect()
        client.release()
        return
      } catch (error) {
        // A refusal is an answer too.
        if (hasCode(error)) return
      }
    }
  }

  const breakSilence = (): void => {
    cut()
    silence ??= untilAnswered().finally(() => (silence = undefined))
  }

  const lend = async <T>(lease: Lease & { client?: pg.PoolClient; over: boolean }, work: Work<T>): Promise<T> => {
    await silence
    if (lease.over) throw new DatabaseUnavailable("the turn came too late")
    const client = await pool.connect().catch((error: unknown) => Promise.reject(unavailable(error)))
    answeredAt = now()
    lease.client = client
    try {
      if (lease.over) throw new DatabaseUnavailable("no connection was free in time")
      return await work(client, lease)
    } catch (error) {
      throw lease.committing ? new OutcomeUnknown(error) : explain(error, isLost(client))
    } finally {
      if (!isLost(client)) answeredAt = now()
      // Only what the server says is between transactions can serve another task.
      client.release(isLost(client) || client.getTransactionStatus() !== "I")
    }
  }

  return {
    take: async (deadline, work, turn) => {
      const started = now()
      const lease: Parameters<typeof lend>[0] = { committing: false, over: false }
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => {
            const error = new DatabaseUnavailable("the database gave no answer in time")
            reject(lease.committing ? new OutcomeUnknown(error) : error)
            lease.over = true
            if (lease.client !== undefined) destroy(lease.client)
            if (answeredAt < started) breakSilence()
          },
          Math.max(0, deadline - started),
        )
      })
      const lent = turn === undefined ? lend(lease, work) : turns(turn, () => lend(lease, work))
      try {
        return await Promise.race([lent, late])
      } finally {
        clearTimeout(timer)
        // After its time nobody hears of its end.
        lent.catch(() => {})
      }
    },
    cut,
  }
}
