import type { AnyPgColumn } from "drizzle-orm/pg-core"

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
