import { z } from "zod"

/** A JSON Schema, as far as tools use it. */
export type JsonSchema = {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
}

const nothing = { type: "null" } as const

// Unions of types in `type` and `additionalProperties` break some clients, and an optional argument may be null.
const orNull = ({ description, default: value, ...schema }: JsonSchema): JsonSchema => ({
  ...(description !== undefined && { description }),
  ...(value !== undefined && { default: value }),
  anyOf: [schema, nothing],
})

/**
 * The JSON Schema of a tool's arguments (`input`) or result, as clients list it. It says in few tokens what a caller needs: that
 * what is optional may be null, but not the bounds of every integer, nor that other members are rejected.
 */
export const listedSchema = (schema: z.ZodObject, io: "input" | "output"): JsonSchema => {
  const { $schema: _dialect, ...listed } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema: one }) => {
      if (one.additionalProperties === false) delete one.additionalProperties
      delete one.propertyNames
      if (one.maximum === Number.MAX_SAFE_INTEGER) delete one.maximum
      if (one.minimum === Number.MIN_SAFE_INTEGER) delete one.minimum
      for (const [name, member] of Object.entries(io === "input" ? (one.properties ?? {}) : {})) {
        const isDone = typeof member === "boolean" || member.anyOf?.includes(nothing) === true
        if (isDone || one.required?.includes(name) === true) continue
        Object.assign(one.properties ?? {}, { [name]: orNull(member as JsonSchema) })
      }
    },
  })
  // No schema of a tool uses more of JSON Schema than the type has.
  return listed as JsonSchema
}
