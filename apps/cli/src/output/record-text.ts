import type { Context } from "../context.ts"
import { isObject } from "@svc/common/json-object"
import { listOf, textOf } from "./json-value.ts"
import { pairs, table } from "./table.ts"

/** A list inside a record, and members of it that are shown. */
export type Parts = readonly [member: string, columns: readonly string[]]

export const runParts: Parts = ["steps", ["name", "status", "started_at", "completed_at", "error_message"]]
export const buildParts: Parts = ["events", ["created_at", "new_status", "phase"]]

export const headingOf = (columns: readonly string[]): string[] =>
  columns.map((name) => name.replaceAll("_", " ").toUpperCase())

/** A record's own members, and the list inside it as a table. */
export const shown = (record: unknown, context: Context, parts?: Parts): string => {
  const [member = "", columns = []] = parts ?? []
  const own = Object.entries(isObject(record) ? record : {}).filter(([name]) => name !== member)
  const about = pairs(
    own.map(([name, value]) => [
      name,
      typeof value === "object" && value !== null ? JSON.stringify(value) : textOf(record, name),
    ]),
  )
  const rows = listOf(record, member).map((part) => columns.map((name) => textOf(part, name)))
  return rows.length === 0 ? about : `${about}\n\n${table(headingOf(columns), rows, context.bold)}`
}
