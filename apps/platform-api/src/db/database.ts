// drizzle-orm's CommonJS build loads much faster than its ESM build and needs far less memory.
import { createRequire } from "node:module"
import type { SQL } from "drizzle-orm"
import type { PgDatabase, PgQueryResultHKT, PgTable } from "drizzle-orm/pg-core"
import type postgres from "postgres"

const require = createRequire(import.meta.url)

export const pg = require("drizzle-orm/pg-core") as typeof import("drizzle-orm/pg-core")
export const orm = require("drizzle-orm") as typeof import("drizzle-orm")
export const { and, asc, desc, eq, exists, gt, gte, inArray, isNotNull, isNull, lt, lte, ne, or, sql } = orm
export const { readMigrationFiles } = require("drizzle-orm/migrator") as typeof import("drizzle-orm/migrator")

// A process uses only one of the two drivers.
export const loadServerDriver = () => require("drizzle-orm/postgres-js") as typeof import("drizzle-orm/postgres-js")
export const loadPostgres = () => require("postgres") as typeof postgres
export const loadEmbeddedDriver = () => require("drizzle-orm/pglite") as typeof import("drizzle-orm/pglite")

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

/** Time limit for everything one request asks of the database, in milliseconds: it gets its response within two seconds. */
export const requestMs = 1800

export type Database = {
  /** @param ms time limit for everything done with the result, starting now */
  readonly within: (ms: number) => Queries
  readonly connections: () => number
  /** Calls back on every notification of the channel. Notifications can be lost, so poll as well. */
  readonly listen: (channel: string, onNotice: () => void) => void
  /** Whether the database stores data, judged by the last writes. With a full disk, reads may still work. */
  readonly stores: () => boolean
  readonly close: () => Promise<void>
}

/** A statement for many requests: built and prepared once per connection. */
export const prepared = <Statement>(build: (db: Orm) => Statement): ((db: Orm) => Statement) => {
  const known = new WeakMap<Orm, Statement>()
  return (db) => known.getOrInsertComputed(db, build)
}

/** Some of the rows that meet a condition, to delete: all could take longer than a statement may. */
export const someRows = (table: PgTable, condition: SQL) =>
  orm.sql`ctid in (select ctid from ${table} where ${condition} limit 10000)`

/** The only row of a statement that always has one. */
export const theRow = <Row>([row]: readonly Row[]): Row => {
  if (row === undefined) throw new Error("a statement returned no row")
  return row
}

/** Whether a statement failed only because one before it in its transaction did. */
const isFollowUp = ({ reason }: PromiseRejectedResult): boolean =>
  Object(Object(reason).cause ?? reason).code === "25P02"

/**
 * Sends statements of a transaction together. The server runs them in the order in which they are sent, an async function's before
 * the others, and fails all that come after a failed one. The failure that caused the others is thrown once all have ended.
 */
export const together = async <Statements extends readonly unknown[]>(...statements: Statements) => {
  const sent = statements.map(async (statement) => statement)
  const failed = (await Promise.allSettled(sent)).filter((one) => one.status === "rejected")
  const cause = failed.find((one) => !isFollowUp(one)) ?? failed[0]
  if (cause !== undefined) throw cause.reason
  return (await Promise.all(sent)) as { [Index in keyof Statements]: Awaited<Statements[Index]> }
}
