import { isObject } from "@svc/common/json-object"
import meanings from "./field-meanings.json" with { type: "json" }

const table: Readonly<Record<string, string>> = meanings

/** A name means what its place says, `Stack.version`, or else the same everywhere, `version`. */
const describe = (field: unknown, parent: string, name: string): void => {
  if (!isObject(field)) return
  const description = table[`${parent}.${name}`] ?? table[name]
  if (field["description"] === undefined && description !== undefined) Object.assign(field, { description })
}

/**
 * Describes, in place, the fields and parameters of an OpenAPI document that have no description of their own. What
 * a name means in several places stands once, in field-meanings.json.
 * @param parent the schema, field or operation that a value belongs to
 */
export const describeFields = (value: unknown, parent = ""): void => {
  if (Array.isArray(value)) for (const one of value) describeFields(one, parent)
  if (!isObject(value)) return
  const { operationId, properties, parameters, schemas, ...rest } = value
  const owner = typeof operationId === "string" ? operationId : parent
  for (const [name, field] of Object.entries({ ...(isObject(properties) && properties) })) {
    describe(field, owner, name)
    describeFields(field, name)
  }
  for (const [name, schema] of Object.entries({ ...(isObject(schemas) && schemas) })) describeFields(schema, name)
  for (const one of Array.isArray(parameters) ? parameters : [])
    if (isObject(one)) describe(one, owner, String(one["name"]))
  for (const inner of Object.values(rest)) describeFields(inner, owner)
}
