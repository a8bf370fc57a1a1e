// Columns that many tables have.
import type { AnyPgColumn } from "drizzle-orm/pg-core"
import { orm, pg, sql } from "../database.ts"

export const bytea = pg.customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" })

// Responses show milliseconds. Nothing finer is stored, so a stored time equals what a response said.
export const time = (name: string) => pg.timestamp(name, { withTimezone: true, precision: 3, mode: "date" })

export const refersTo = (name: string, to: () => AnyPgColumn) => pg.integer(name).notNull().references(to)

export const id = () => pg.integer().primaryKey().generatedAlwaysAsIdentity()

/** The checks that columns have only the values of their types. Null passes. */
export const enumChecks = (...columns: readonly AnyPgColumn[]) =>
  columns.map((column) => {
    const { table, name } = column
    // A table's checks get its columns without their values.
    const whole = Object.values(orm.getTableColumns(table)).find((one) => one.name === name)
    return pg.check(`${orm.getTableName(table)}_${name}`, isOneOf(column, whole?.enumValues ?? []))
  })

/** For checks: whether a column has one of these values. Null passes. */
export const isOneOf = (column: AnyPgColumn, values: readonly string[]) =>
  sql`${column} in (${sql.raw(values.map((value) => `'${value}'`).join(", "))})`

export const visibilities = ["public", "global", "private"] as const
export const verdicts = ["none", "compatible", "breaking"] as const
export const bumps = ["none", "patch", "minor", "major"] as const
