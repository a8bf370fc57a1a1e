import { isObject } from "@svc/common/json-object"
import { listOf, rowOf, textOf } from "./json-value.ts"
import type { Style } from "./style.ts"
import { pairs, table } from "./table.ts"

/** A list inside a record, and the members of its items that are shown. */
export type Parts = readonly [member: string, columns: readonly string[]]

export const runParts: Parts = ["steps", ["name", "status", "started_at", "completed_at", "error_message"]]
export const buildParts: Parts = ["events", ["created_at", "new_status", "phase"]]

export const headingOf = (columns: readonly string[]): string[] =>
  columns.map((name) => name.replaceAll("_", " ").toUpperCase())

/** A record's members, and the list inside it as a table. */
export const recordText = (record: unknown, style: Style, [member, columns]: Parts = ["", []]): string => {
  const own = Object.entries(isObject(record) ? record : {}).filter(([name]) => name !== member)
  const about = pairs(
    own.map(([name, value]) => [
      name,
      typeof value === "object" && value !== null ? JSON.stringify(value) : textOf(record, name),
    ]),
    style,
  )
  const rows = listOf(record, member).map((part) => rowOf(part, columns))
  return rows.length === 0 ? about : `${about}\n\n${table(headingOf(columns), rows, style)}`
}
