import { isObject } from "@svc/common/json-object"
import { listOf, textOf } from "../output/json-value.ts"
import { pairs, plain, table } from "../output/table.ts"

type Bold = (text: string) => string

const strings = (value: unknown, name: string): string =>
  listOf(value, name)
    .filter((item) => typeof item === "string")
    .join(", ")

/** The stacks of a registry, one a line. */
export const stackList = (registry: readonly unknown[], url: string, bold: Bold): string => {
  if (registry.length === 0) return `The registry at ${url} has no public stack.`
  const rows = registry.map((stack) => [
    textOf(stack, "name"),
    strings(stack, "entities"),
    textOf(stack, "websocket_url"),
    textOf(stack, "description"),
  ])
  return `${table(["STACK", "ENTITIES", "WEBSOCKET URL", "DESCRIPTION"], rows, bold)}\n\nFields and types: svc explore STACK`
}

const pipelineOf = (view: unknown): string => {
  const pipeline = listOf(view, "pipeline")
  return pipeline.length === 0 ? "" : JSON.stringify(pipeline)
}

/** An entity: its keys, fields and views. */
export const entityTables = (entity: unknown, bold: Bold): string => {
  const fields = listOf(entity, "fields").map((field) => [
    textOf(field, "path"),
    textOf(field, "rust_type"),
    isObject(field) && field["nullable"] === true ? "yes" : "no",
  ])
  const views = listOf(entity, "views").map((view) => [textOf(view, "id"), textOf(view, "mode"), pipelineOf(view)])
  return [
    bold(plain(textOf(entity, "name"))),
    `Primary keys: ${plain(strings(entity, "primary_keys"))}`,
    "",
    table(["FIELD", "TYPE", "NULLABLE"], fields, bold),
    "",
    table(["VIEW", "MODE", "PIPELINE"], views, bold),
  ].join("\n")
}

const typeRows = (type: unknown): string[][] => {
  const name = textOf(type, "name")
  const kind = textOf(type, "kind")
  if (kind === "enum") return [[name, kind, strings(type, "variants"), ""]]
  const fields = listOf(type, "fields")
  if (fields.length === 0) return [[name, kind, "", ""]]
  return fields.map((field, index) => [
    index === 0 ? name : "",
    index === 0 ? kind : "",
    textOf(field, "name"),
    textOf(field, "type"),
  ])
}

/** A stack with all its entities and the types that their fields name. */
export const stackTables = (stack: unknown, bold: Bold): string => {
  const schema = isObject(stack) ? stack["schema"] : undefined
  const types = listOf(schema, "types").flatMap(typeRows)
  const about = pairs([
    ["Stack", textOf(stack, "name")],
    ["WebSocket URL", textOf(stack, "websocket_url")],
    ["Description", textOf(stack, "description")],
  ])
  const parts = [about, ...listOf(schema, "entities").map((entity) => entityTables(entity, bold))]
  if (types.length > 0) parts.push(table(["TYPE", "KIND", "FIELD OR VARIANTS", "FIELD TYPE"], types, bold))
  return parts.join("\n\n")
}
