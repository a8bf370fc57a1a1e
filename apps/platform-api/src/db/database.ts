import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core"

/** Statements by drizzle. Transactions begin and end in `Queries` alone: one inside another would commit both. */
export type Orm = Omit<PgDatabase<PgQueryResultHKT>, "transaction">

/** The database for one task: all that is asked through it ends by one moment, with an answer or DatabaseUnavailable. */
export type Queries = {
  /** One statement, prepared on the server. Timestamps come as PostgreSQL writes them, in UTC. */
  readonly query: <Row>(text: string, params: readonly unknown[]) => Promise<readonly Row[]>
  readonly run: <T>(work: (orm: Orm) => Promise<T>) => Promise<T>
  /**
   * Nothing of a transaction that ran out of time before its end is committed. Throws OutcomeUnknown when the answer to
   * the COMMIT itself never came: then it may have been committed or not.
   * @param turn transactions of one name go one after the other in this process, and wait without a connection: give
   * the name of what the transaction locks, so that the many who want one lock leave the database to all others
   */
  readonly transaction: <T>(work: (tx: Orm) => Promise<T>, turn?: string) => Promise<T>
}

export type Database = {
  /** @param ms time for everything that is asked through the result, from now on */
  readonly within: (ms: number) => Queries
  /** How many connections are held now. */
  readonly connections: () => number
  /** Calls back on every notice of the channel; notices can be lost, so poll as well. */
  readonly listen: (channel: string, onNotice: () => void) => void
  /** Whether it stores what it is given, by what the last writes said: with a full disk reads may go on. */
  readonly stores: () => boolean
  readonly close: () => Promise<void>
}
