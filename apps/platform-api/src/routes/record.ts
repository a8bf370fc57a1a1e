import { z } from "@svc/openapi"
import type { SQL } from "drizzle-orm"
import type { AnyPgColumn } from "drizzle-orm/pg-core"
import { orm } from "../db/database.ts"

/** What is selected for a field of a response, and the field's schema. */
type Field = readonly [selected: AnyPgColumn | SQL, schema: z.ZodType]

type SchemaOf<F extends Field> = F[0] extends AnyPgColumn
  ? F[0]["_"]["notNull"] extends true
    ? F[1]
    : z.ZodNullable<F[1]>
  : F[1]

/**
 * Defines a response object once: the columns to select and the schema, where a column that can be null makes a nullable
 * field. What a statement then returns is checked by the types of the route's response. Times are Dates, which JSON
 * shows as RFC 3339.
 */
export const record = <const Fields extends Readonly<Record<string, Field>>>(fields: Fields) => {
  const entries = Object.entries(fields)
  const columns = Object.fromEntries(entries.map(([name, [selected]]) => [name, selected]))
  const shape = Object.fromEntries(
    entries.map(([name, [selected, schema]]) => {
      const isNullable = orm.is(selected, orm.Column) && !selected.notNull
      return [name, isNullable ? schema.nullable() : schema]
    }),
  )
  return {
    columns: columns as { -readonly [Name in keyof Fields]: Fields[Name][0] },
    schema: z.object(shape as { -readonly [Name in keyof Fields]: SchemaOf<Fields[Name]> }),
  }
}

export const recordId = z.int().positive()
export const text = z.string()
export const time = z.iso.datetime()
