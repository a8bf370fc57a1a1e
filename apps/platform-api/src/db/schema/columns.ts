// Columns that many tables have.
import type { AnyPgColumn } from "drizzle-orm/pg-core"
import { pg, sql } from "../database.ts"

export const bytea = pg.customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" })

// Responses show milliseconds. Nothing finer is stored, so a stored time equals what a response said.
export const time = (name: string) => pg.timestamp(name, { withTimezone: true, precision: 3, mode: "date" })

export const refersTo = (name: string, to: () => AnyPgColumn) => pg.integer(name).notNull().references(to)

export const id = () => pg.integer().primaryKey().generatedAlwaysAsIdentity()

/** For checks: whether a column has one of these values. Null passes. */
export const isOneOf = (column: AnyPgColumn, values: readonly string[]) =>
  sql`${column} in (${sql.raw(values.map((value) => `'${value}'`).join(", "))})`

export const visibilities = ["public", "global", "private"] as const
export const verdicts = ["none", "compatible", "breaking"] as const
export const bumps = ["none", "patch", "minor", "major"] as const
