import { z } from "@svc/openapi"
import type { AnyPgColumn } from "drizzle-orm/pg-core"
import { isoTime, selectList, type Stored } from "../db/statements.ts"

/** A field of a response, and the column it comes from. */
type Field<S extends z.ZodType = z.ZodType> = {
  readonly alias: string
  readonly column: AnyPgColumn
  readonly schema: S
}

/** A row as the database returns it. */
export type Row = Readonly<Record<string, unknown>>

/**
 * Makes fields from the columns of the table with this alias. A nullable column makes a nullable field, unless
 * `nullable` overrides it.
 */
export const fieldsOf =
  (alias: string) =>
  <C extends AnyPgColumn, S extends z.ZodType<Stored<C>>>(column: C, schema: S, nullable = !column.notNull) => ({
    alias,
    column,
    schema: nullable ? schema.nullable() : schema,
  })

/**
 * Defines a response object once. The columns of the statement, the schema in the document and the response all follow
 * from it.
 * @param prefix of the column names, if the row holds another record too
 */
export const record = <Fields extends Readonly<Record<string, Field>>>(fields: Fields, prefix = "") => {
  const shown = Object.entries(fields).map(([name, { column }]) => ({
    name,
    inRow: `${prefix}${name}`,
    isTime: column.dataType === "date",
  }))
  const shape = Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]))
  const schema = z.object(shape as { [Name in keyof Fields]: Fields[Name]["schema"] })
  return {
    columns: Object.entries(fields)
      .map(([name, { alias, column }]) => selectList(alias, { [`${prefix}${name}`]: column }))
      .join(", "),
    schema,
    /** False if an outer join found nothing. The first field is never null. */
    isIn: (row: Row): boolean => row[shown[0]?.inRow ?? ""] !== null,
    present: (row: Row): z.infer<typeof schema> => {
      const answer: Record<string, unknown> = {}
      for (const { name, inRow, isTime } of shown) {
        const value = row[inRow]
        answer[name] = isTime && typeof value === "string" ? isoTime(value) : value
      }
      // The statement selects these columns, whose types the schemas have.
      return answer as z.infer<typeof schema>
    },
  }
}

export const id = z.int().positive()
export const text = z.string()
export const time = z.iso.datetime()
