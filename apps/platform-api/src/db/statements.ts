// How statements are made, and their results.
import type { SQL } from "drizzle-orm"
import type { AnyPgColumn } from "drizzle-orm/pg-core"
import type { Orm } from "./database.ts"
import { sql } from "./drizzle.ts"

/** A statement for many requests: built and prepared once per connection. */
export const prepared = <Statement>(build: (db: Orm) => Statement): ((db: Orm) => Statement) => {
  const known = new WeakMap<Orm, Statement>()
  return (db) => {
    const statement = known.get(db) ?? build(db)
    known.set(db, statement)
    return statement
  }
}

/** Converts a statement with $1, $2, … to drizzle's form, for transactions. */
export const bind = (text: string, values: readonly unknown[]): SQL =>
  sql.join(
    text.split(/\$(\d+)/).map((part, index) => (index % 2 === 0 ? sql.raw(part) : sql`${values[Number(part) - 1]}`)),
  )

/** The rows of a statement in a transaction. Times are as PostgreSQL writes them. */
export const rowsOf = async <Row>(tx: Orm, statement: SQL): Promise<readonly Row[]> => {
  const result: unknown = await tx.execute(statement)
  return Array.isArray(result) ? result : (result as { rows: readonly Row[] }).rows
}

/** Columns of tables by their names in the result. */
export type Columns = Readonly<Record<string, AnyPgColumn>>

/** The type of a value from a prepared statement: like the column's, but times as PostgreSQL writes them. */
export type Stored<C extends AnyPgColumn> = C["_"]["data"] extends Date ? string : C["_"]["data"]

export type RowOf<C extends Columns> = {
  readonly [Name in keyof C]: Stored<C[Name]> | (C[Name]["_"]["notNull"] extends true ? never : null)
}

/**
 * The select list for columns of the table with this alias. Frequent statements are written in SQL, because drizzle builds
 * each one anew. Their columns still come from the table definitions. Arrays are selected as JSON, because the server's
 * driver returns them as text.
 */
export const selectList = (alias: string, columns: Columns): string =>
  Object.entries(columns)
    .map(([name, column]) => {
      const value = `${alias}.${column.name}`
      if (column.columnType === "PgArray") return `to_json(${value}) as ${name}`
      return column.name === name ? value : `${value} as ${name}`
    })
    .join(", ")

/**
 * Converts PostgreSQL's UTC timestamp (`2026-11-21 01:02:03.4+00`) to RFC 3339 with milliseconds. It is written by hand
 * because every authenticated request uses it.
 */
export const isoTime = (text: string): string =>
  `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, "0").slice(0, 3)}Z`
