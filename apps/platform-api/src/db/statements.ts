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

/** The only row of a statement that always has one. */
export const theRow = <Row>([row]: readonly Row[]): Row => {
  if (row === undefined) throw new Error("a statement returned no row")
  return row
}

/** The type of a value from a prepared statement: like the column's, but times as PostgreSQL writes them. */
export type Stored<C extends AnyPgColumn> = C["_"]["data"] extends Date ? string : C["_"]["data"]

/**
 * The select list for columns of the table with this alias, by their names in the result. Arrays are selected as JSON,
 * because the server's driver returns them as text.
 */
export const selectList = (alias: string, columns: Readonly<Record<string, AnyPgColumn>>): string =>
  Object.entries(columns)
    .map(([name, column]) => {
      const value = `${alias}.${column.name}`
      return `${column.columnType === "PgArray" ? `to_json(${value})` : value} as ${name}`
    })
    .join(", ")

/** Converts PostgreSQL's UTC timestamp (`2026-11-21 01:02:03.4+00`) to RFC 3339 with milliseconds. */
export const isoTime = (text: string): string => new Date(text).toISOString()
