import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core"
import { DatabaseUnavailable, explain } from "./errors.ts"

export type Orm = PgDatabase<PgQueryResultHKT>

/** What a driver gives: connections to one server, opened when needed. */
export type Pool = {
  readonly orm: Orm
  /** One statement, prepared on the server. Timestamps come as PostgreSQL writes them, in UTC. */
  readonly query: <Row>(text: string, params: readonly unknown[]) => Promise<readonly Row[]>
  /** Cuts every connection at once: what is under way rejects. */
  readonly cut: () => void
  readonly close: () => Promise<void>
}

/** The database for one task: all that is asked through it ends by one moment, with an answer or DatabaseUnavailable. */
export type Queries = {
  readonly query: Pool["query"]
  readonly run: <T>(work: (orm: Orm) => Promise<T>) => Promise<T>
  /** Nothing of a transaction that ran out of time is committed. */
  readonly transaction: <T>(work: (tx: Orm) => Promise<T>) => Promise<T>
}

export type Database = {
  /** @param ms time for everything that is asked through the result, from now on */
  readonly within: (ms: number) => Queries
  /** Calls back on every notice of the channel; notices can be lost, so poll as well. */
  readonly listen: (channel: string, onNotice: () => void) => void
  readonly close: () => Promise<void>
}

/**
 * Puts time limits on a driver that has none. A pool that gave no answer at all while a task waited out its time is cut
 * and replaced: its connections may be dead without a word, and a new one may work.
 * @param now a monotonic clock, in milliseconds
 */
export const createDatabase = ({
  openPool,
  mayHang,
  listen,
  close,
  now,
}: {
  readonly openPool: () => Pool
  /** Whether answers can fail to come: a database in this process always gives one, late when the machine is busy. */
  readonly mayHang: boolean
  readonly listen: Database["listen"]
  readonly close: () => Promise<void>
  readonly now: () => number
}): Database => {
  let pool = openPool()
  let answeredAt = now()

  const bounded = async <T>(work: (pool: Pool) => Promise<T>, deadline: number): Promise<T> => {
    if (!mayHang) return work(pool).catch((error: unknown) => Promise.reject(explain(error)))
    const used = pool
    const started = now()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => {
          reject(new DatabaseUnavailable("the database gave no answer in time"))
          if (used !== pool || answeredAt >= started) return
          pool = openPool()
          used.cut()
        },
        Math.max(0, deadline - started),
      )
    })
    try {
      const result = await Promise.race([work(used), late])
      answeredAt = now()
      return result
    } catch (error) {
      const explained = explain(error)
      if (!(explained instanceof DatabaseUnavailable)) answeredAt = now()
      throw explained
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    within: (ms) => {
      const deadline = now() + ms
      return {
        query: <Row>(text: string, params: readonly unknown[]) =>
          bounded((used) => used.query<Row>(text, params), deadline),
        run: (work) => bounded((used) => work(used.orm), deadline),
        transaction: (work) =>
          bounded(
            (used) =>
              used.orm.transaction(async (tx) => {
                const result = await work(tx)
                if (mayHang && now() >= deadline) throw new DatabaseUnavailable("the transaction ran out of time")
                return result
              }),
            deadline,
          ),
      }
    },
    listen,
    close: async () => {
      await pool.close()
      await close()
    },
  }
}
