import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core"

/**
 * Drizzle's statements without its transactions, which start and end only in `Queries`: a nested one would commit both.
 */
export type Orm = Omit<PgDatabase<PgQueryResultHKT>, "transaction">

/** The database for one task. Everything ends by one deadline, with a result or DatabaseUnavailable. */
export type Queries = {
  /** One statement, prepared on the server. Timestamps arrive as PostgreSQL writes them, in UTC. */
  readonly query: <Row>(text: string, params: readonly unknown[]) => Promise<readonly Row[]>
  readonly run: <T>(work: (orm: Orm) => Promise<T>) => Promise<T>
  /**
   * A transaction that runs out of time isn't committed. Throws OutcomeUnknown if COMMIT got no response: it may be
   * committed or not.
   * @param queue transactions with the same name run one after the other in this process, and hold no connection while
   * they wait. Use the name of what the transaction locks, so that a contended lock doesn't occupy all connections.
   */
  readonly transaction: <T>(work: (tx: Orm) => Promise<T>, queue?: string) => Promise<T>
}

export type Database = {
  /** @param ms time limit for everything done with the result, starting now */
  readonly within: (ms: number) => Queries
  /** The number of open connections. */
  readonly connections: () => number
  /** Calls back on every notification of the channel. Notifications can be lost, so poll as well. */
  readonly listen: (channel: string, onNotice: () => void) => void
  /** Whether the database stores data, judged by the last writes. With a full disk, reads may still work. */
  readonly stores: () => boolean
  readonly close: () => Promise<void>
}
