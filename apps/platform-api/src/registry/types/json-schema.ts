import { visibleJson } from "@svc/common/foreign-text"
import { type Declaration, type Member, type Model, type Nested, takeNames } from "./model.ts"
import type { TypeNode } from "./type-node.ts"

type Json = Readonly<Record<string, unknown>>

const plain = {
  boolean: { type: "boolean" },
  float: { type: "number" },
  text: { type: "string" },
  unknown: {},
} as const

/**
 * A JSON Schema 2020-12 document that accepts any of the stack's entities. `$defs` holds each entity and type by name.
 */
export const jsonSchemaModule = ({ declarations, views, named }: Model, heading: readonly string[]): string => {
  const take = takeNames(["ViewId", "ViewKeys", "NeedsKey"])
  const names = declarations.map(({ name }) => take(name))
  const reference = (index: number | undefined): Json => {
    const name = names[index ?? -1]
    return name === undefined ? {} : { $ref: `#/$defs/${pointer(name)}` }
  }

  const schemaOf = (node: TypeNode | Nested): Json => {
    switch (node.kind) {
      case "integer": {
        const size = 2 ** (node.signed ? node.bits - 1 : node.bits)
        return { type: "integer", minimum: node.signed ? -size : 0, maximum: size - 1 }
      }
      case "digits":
        return { type: "string", pattern: node.signed ? "^-?[0-9]+$" : "^[0-9]+$" }
      case "nullable":
        return { anyOf: [schemaOf(node.of), { type: "null" }] }
      case "list":
        return { type: "array", items: schemaOf(node.of) }
      case "map":
        return { type: "object", additionalProperties: schemaOf(node.of) }
      case "tuple":
        return {
          type: "array",
          ...(node.items.length === 0 ? {} : { prefixItems: node.items.map(schemaOf) }),
          minItems: node.items.length,
          maxItems: node.items.length,
        }
      case "named":
        return reference(named.get(node.name))
      case "object":
        return objectOf(node.members)
      case "plain":
        return plain[node.type]
      default:
        return node satisfies never
    }
  }
  const objectOf = (members: readonly Member[]): Json => ({
    type: "object",
    properties: Object.fromEntries(members.map(({ key, value }) => [key, schemaOf(value)])),
    required: members.map(({ key }) => key),
  })
  const declared = (declaration: Declaration): Json => {
    if (declaration.kind !== "enum") return objectOf(declaration.members)
    const variants = declaration.members.map(({ key, value }) =>
      value === undefined ? { const: key } : objectOf([{ key, value }]),
    )
    return variants.length === 0 ? { not: {} } : { anyOf: variants }
  }
  const entities = declarations.flatMap(({ kind }, index) => (kind === "entity" ? [reference(index)] : []))
  const idIn = (some: Model["views"]): Json => (some.length === 0 ? { not: {} } : { enum: some.map(({ id }) => id) })
  const definitions = [
    ...declarations.map((declaration, index) => [names[index] ?? "", declared(declaration)] as const),
    ["ViewId", idIn(views)] as const,
    [
      "ViewKeys",
      { properties: Object.fromEntries(views.map(({ id, key_field }) => [id, { const: key_field }])) },
    ] as const,
    ["NeedsKey", idIn(views.filter(({ needs_key }) => needs_key))] as const,
  ]
  const head = { $schema: "https://json-schema.org/draft/2020-12/schema", $comment: heading.join(" "), anyOf: entities }
  // One line per definition: with full indentation a large document would be mostly spaces.
  return `{
${lines(Object.entries(head), "  ")},
  "$defs": {
${lines(definitions, "    ")}
  }
}
`
}

const lines = (members: readonly (readonly [string, unknown])[], indent: string): string =>
  members
    .map(([name, value]) => `${indent}${visibleJson(`${JSON.stringify(name)}: ${JSON.stringify(value)}`)}`)
    .join(",\n")

/** A name inside a JSON pointer in a URI fragment. */
const pointer = (name: string): string => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))
