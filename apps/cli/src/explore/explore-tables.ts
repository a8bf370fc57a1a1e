import type { Stack, StackSchema, StackWithSchema } from "@svc/client"
import { pipelineSteps } from "@svc/common/stack-views"
import type { Style } from "../output/style.ts"
import { pairs, plain, table } from "../output/table.ts"
import type { WithRecords } from "./records-now.ts"
import type { Entity } from "./stack.ts"

type Type = StackSchema["types"][number]

/** How many records of all entities a stack has. */
const recordsOf = ({ records }: WithRecords<object>): number | undefined =>
  records && Object.values(records).reduce((sum, count) => sum + count, 0)

type Listed = WithRecords<Pick<Stack, "name" | "entities" | "websocket_url" | "description">> & {
  readonly deprecated: Stack["deprecated"]
}

export const stackList = (registry: readonly Listed[], url: string, style: Style): string => {
  if (registry.length === 0) return `The registry at ${url} has no public stack.`
  const isKnown = registry.some((stack) => recordsOf(stack) !== undefined)
  const rows = registry.map((stack) => [
    `${stack.name}${stack.deprecated === undefined ? "" : " (deprecated)"}`,
    ...(isKnown ? [recordsOf(stack)] : []),
    stack.entities.join(", "),
    stack.websocket_url,
    stack.description,
  ])
  const heading = ["STACK", ...(isKnown ? ["RECORDS NOW"] : []), "ENTITIES", "WEBSOCKET URL", "DESCRIPTION"]
  return `${table(heading, rows, style)}\n\nFields and types: svc explore STACK`
}

/** The types that texts such as `Option<Side>` name, and all that these name. */
export const typesNamed = (texts: readonly string[], types: readonly Type[]): readonly Type[] => {
  const named = new Set<Type>()
  const visit = (text: string): void => {
    for (const word of text.match(/\w+/g) ?? []) {
      const type = types.find((one) => one.name === word)
      if (type === undefined || named.has(type)) continue
      named.add(type)
      if (type.kind === "struct") for (const field of type.fields) visit(field.type)
    }
  }
  for (const text of texts) visit(text)
  return types.filter((type) => named.has(type))
}

const typeRows = (type: Type): string[][] => {
  const { name, kind } = type
  if (kind === "enum") return [[name, kind, type.variants.join(", "), ""]]
  if (type.fields.length === 0) return [[name, kind, "", ""]]
  return type.fields.map((field, index) => [...(index === 0 ? [name, kind] : ["", ""]), field.name, field.type])
}

const typesText = (types: readonly Type[], style: Style): string[] =>
  types.length === 0 ? [] : [table(["TYPE", "KIND", "FIELD OR VARIANTS", "FIELD TYPE"], types.flatMap(typeRows), style)]

/** An entity: its keys, fields and views, and the types that its fields name. */
export const entityText = (
  { name, primary_keys, fields, views }: Entity,
  types: readonly Type[],
  style: Style,
): string => {
  const fieldRows = fields.map(({ path, rust_type, nullable }) => [path, rust_type, nullable ? "yes" : "no"])
  const viewRows = views.map(({ id, mode, key_field, needs_key, pipeline }) => [
    id,
    mode,
    `${key_field ?? ""}${needs_key ? " (required)" : ""}`.trim(),
    pipelineSteps(pipeline).join(", then "),
  ])
  const typeTexts = fields.map(({ rust_type }) => rust_type)
  return [
    `${style.bold(plain(name))}\nPrimary keys: ${plain(primary_keys.join(", "))}`,
    table(["FIELD", "TYPE", "NULLABLE"], fieldRows, style),
    table(["VIEW", "MODE", "KEY", "PIPELINE"], viewRows, style),
    ...typesText(typesNamed(typeTexts, types), style),
  ].join("\n\n")
}

export const stackText = (stack: WithRecords<StackWithSchema>, style: Style): string => {
  const { name, websocket_url, description, schema } = stack
  const about = [
    ["Stack", name],
    ["WebSocket URL", websocket_url],
    ["Description", description],
    ["Records now", recordsOf(stack)],
  ] as const
  const entities = schema.entities.map((entity) => entityText(entity, [], style))
  return [pairs(about, style), ...entities, ...typesText(schema.types, style)].join("\n\n")
}
