// Statements written in SQL, and what their results hold.
import type { SQL } from "drizzle-orm"
import type { AnyPgColumn } from "drizzle-orm/pg-core"
import type { Orm } from "./database.ts"
import { sql } from "./drizzle.ts"

/** A statement written with $1, $2, … for a transaction, which takes drizzle's form. */
export const bind = (text: string, values: readonly unknown[]): SQL =>
  sql.join(
    text.split(/\$(\d+)/).map((part, index) => (index % 2 === 0 ? sql.raw(part) : sql`${values[Number(part) - 1]}`)),
  )

/** The rows of a statement inside a transaction; times are as PostgreSQL writes them. */
export const rowsOf = async <Row>(tx: Orm, statement: SQL): Promise<readonly Row[]> => {
  const result: unknown = await tx.execute(statement)
  return Array.isArray(result) ? result : (result as { rows: readonly Row[] }).rows
}

/** Columns of the tables in schema.ts, by the names that they get in a result. */
export type Columns = Readonly<Record<string, AnyPgColumn>>

/** What a prepared statement gives for a column that is not null: as the table says, but times as PostgreSQL writes them. */
export type Stored<C extends AnyPgColumn> = C["_"]["data"] extends Date ? string : C["_"]["data"]

/** A row of `selectList`'s columns. */
export type RowOf<C extends Columns> = {
  readonly [Name in keyof C]: Stored<C[Name]> | (C[Name]["_"]["notNull"] extends true ? never : null)
}

/**
 * The select list for these columns of the table that the statement calls `alias`. Statements on the way of many requests
 * are written in SQL, because drizzle makes each anew; their columns come from the tables all the same.
 */
export const selectList = (alias: string, columns: Columns): string =>
  Object.entries(columns)
    .map(([name, column]) => `${alias}.${column.name}${column.name === name ? "" : ` as ${name}`}`)
    .join(", ")

/**
 * A timestamp as PostgreSQL writes it in UTC (`2026-11-21 01:02:03.4+00`) as RFC 3339 with milliseconds. Done by hand,
 * because it stands on the way of every authenticated request.
 */
export const isoTime = (text: string): string =>
  `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, "0").slice(0, 3)}Z`
