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

/** zod lists the types of plain choices in one `type`, for which Gemini rejects all tools of a request. */
const withoutTypeLists = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema), (_name, part: unknown) => {
    const { type, ...rest } = Object(part) as { readonly type?: unknown }
    return Array.isArray(type) ? { ...rest, anyOf: type.map((one: unknown) => ({ type: one })) } : part
  })

/**
 * The JSON Schema of a tool's arguments (`input`) or result, as clients list it. It says in few tokens what a caller needs: not
 * the bounds of every integer, nor that other members are rejected. What is optional may be null too, but that isn't listed: clients
 * that know neither `anyOf` nor a union in `type` show such an argument to the model without its type and description.
 */
export const listedSchema = (schema: z.ZodObject, io: "input" | "output"): JsonSchema => {
  const { $schema: _dialect, ...listed } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema: one }) => {
      if (one.additionalProperties === false) delete one.additionalProperties
      delete one.propertyNames
      if (one.maximum === Number.MAX_SAFE_INTEGER) delete one.maximum
      if (one.minimum === Number.MIN_SAFE_INTEGER) delete one.minimum
    },
  })
  // No schema of a tool uses more of JSON Schema than the type has.
  return (io === "input" ? withoutTypeLists(listed) : listed) as JsonSchema
}
