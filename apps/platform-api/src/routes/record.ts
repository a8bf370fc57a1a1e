import { z } from "@svc/openapi"
import type { AnyPgColumn } from "drizzle-orm/pg-core"
import { isoTime, selectList, type Stored } from "../db/statements.ts"

/** A field of an answer: the column that it comes from, and what can stand in it. */
type Field = { readonly alias: string; readonly column: AnyPgColumn; readonly schema: z.ZodType }

/** A row as the database gives it: each column's value under its name. */
export type Row = Readonly<Record<string, unknown>>

/**
 * Makes fields of the columns of one table, which the statement calls `alias`. A column that may be null makes a field
 * that may be null, unless `nullable` says that the statement knows better.
 */
export const fieldsOf =
  (alias: string) =>
  <C extends AnyPgColumn>(column: C, schema: z.ZodType<Stored<C>>, nullable = !column.notNull): Field => ({
    alias,
    column,
    schema: nullable ? schema.nullable() : schema,
  })

/**
 * What is answered for a row: each field is said once, and the statement's columns, the document's schema and the answer
 * follow from it.
 * @param prefix of the columns' names in the row, where another record stands in it too
 */
export const record = (fields: Readonly<Record<string, Field>>, prefix = "") => {
  const shown = Object.entries(fields).map(([name, { column }]) => ({
    name,
    inRow: `${prefix}${name}`,
    isTime: column.dataType === "date",
  }))
  return {
    /** The select list. */
    columns: Object.entries(fields)
      .map(([name, { alias, column }]) => selectList(alias, { [`${prefix}${name}`]: column }))
      .join(", "),
    schema: z.object(Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]))),
    /** Whether the row has one: an outer join may have found none, and the first field is one that is never null. */
    isIn: (row: Row): boolean => row[shown[0]?.inRow ?? ""] !== null,
    present: (row: Row): Record<string, unknown> => {
      const answer: Record<string, unknown> = {}
      for (const { name, inRow, isTime } of shown) {
        const value = row[inRow]
        answer[name] = isTime && typeof value === "string" ? isoTime(value) : value
      }
      return answer
    },
  }
}

export const id = z.int().positive()
export const text = z.string()
export const time = z.iso.datetime()
