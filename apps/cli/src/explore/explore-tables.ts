import { isObject } from "@svc/common/json-object"
import { pipelineSteps } from "@svc/common/stack-views"
import { labelled, listOf, textOf } from "../output/json-value.ts"
import type { Style } from "../output/style.ts"
import { pairs, plain, table } from "../output/table.ts"

const strings = (value: unknown, name: string): string =>
  listOf(value, name)
    .filter((item) => typeof item === "string")
    .join(", ")

/** How many records of all entities the stream has now, if it tells. */
const recordsOf = (stack: unknown): string | undefined => {
  const records = isObject(stack) ? stack["records"] : undefined
  if (!isObject(records)) return undefined
  return String(Object.values(records).reduce<number>((sum, count) => sum + Number(count), 0))
}

export const stackList = (registry: readonly unknown[], url: string, style: Style): string => {
  if (registry.length === 0) return `The registry at ${url} has no public stack.`
  const isKnown = registry.some((stack) => recordsOf(stack) !== undefined)
  const rows = registry.map((stack) => [
    textOf(stack, "name"),
    ...(isKnown ? [recordsOf(stack) ?? ""] : []),
    strings(stack, "entities"),
    textOf(stack, "websocket_url"),
    textOf(stack, "description"),
  ])
  const stacks = table(
    ["STACK", ...(isKnown ? ["RECORDS NOW"] : []), "ENTITIES", "WEBSOCKET URL", "DESCRIPTION"],
    rows,
    style,
  )
  return `${stacks}\n\nFields and types: svc explore STACK`
}

/** The types that texts such as `Option<Side>` name, and all that these name. */
export const typesNamed = <Type>(texts: readonly string[], types: readonly Type[]): readonly Type[] => {
  const named = new Set<Type>()
  const visit = (text: string): void => {
    for (const word of text.match(/\w+/g) ?? []) {
      const type = types.find((one) => textOf(one, "name") === word)
      if (type === undefined || named.has(type)) continue
      named.add(type)
      for (const field of listOf(type, "fields")) visit(textOf(field, "type"))
    }
  }
  for (const text of texts) visit(text)
  return types.filter((type) => named.has(type))
}

const typeRows = (type: unknown): string[][] => {
  const [name, kind] = [textOf(type, "name"), textOf(type, "kind")]
  if (kind === "enum") return [[name, kind, strings(type, "variants"), ""]]
  const fields = listOf(type, "fields")
  if (fields.length === 0) return [[name, kind, "", ""]]
  return fields.map((field, index) => {
    const isFirst = index === 0
    return [isFirst ? name : "", isFirst ? kind : "", textOf(field, "name"), textOf(field, "type")]
  })
}

const typesText = (types: readonly unknown[], style: Style): string[] =>
  types.length === 0 ? [] : [table(["TYPE", "KIND", "FIELD OR VARIANTS", "FIELD TYPE"], types.flatMap(typeRows), style)]

/** An entity: its keys, fields and views, and the types that its fields name. */
export const entityText = (entity: unknown, types: readonly unknown[], style: Style): string => {
  const fields = listOf(entity, "fields")
  const fieldRows = fields.map((field) => [
    textOf(field, "path"),
    textOf(field, "rust_type"),
    isObject(field) && field["nullable"] === true ? "yes" : "no",
  ])
  const viewRows = listOf(entity, "views").map((view) => [
    textOf(view, "id"),
    textOf(view, "mode"),
    `${textOf(view, "key_field")}${textOf(view, "needs_key") === "true" ? " (required)" : ""}`.trim(),
    pipelineSteps(listOf(view, "pipeline")).join(", then "),
  ])
  const named = typesNamed(
    fields.map((field) => textOf(field, "rust_type")),
    types,
  )
  return [
    `${style.bold(plain(textOf(entity, "name")))}\nPrimary keys: ${plain(strings(entity, "primary_keys"))}`,
    table(["FIELD", "TYPE", "NULLABLE"], fieldRows, style),
    table(["VIEW", "MODE", "KEY", "PIPELINE"], viewRows, style),
    ...typesText(named, style),
  ].join("\n\n")
}

export const stackText = (stack: unknown, style: Style): string => {
  const schema = isObject(stack) ? stack["schema"] : undefined
  const labels = { name: "Stack", websocket_url: "WebSocket URL", description: "Description" }
  const about = pairs([...labelled(stack, labels), ["Records now", recordsOf(stack) ?? ""]], style)
  const entities = listOf(schema, "entities").map((entity) => entityText(entity, [], style))
  return [about, ...entities, ...typesText(listOf(schema, "types"), style)].join("\n\n")
}
