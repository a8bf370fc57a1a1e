import type { BuildWithEvents, RunWithSteps } from "@svc/client"
import type { Style } from "./style.ts"
import { type Cell, pairs, table } from "./table.ts"

/** The list inside a record: its member, and the columns that are shown of its items. */
export type Parts<Shown> = {
  readonly [Member in keyof Shown]: Shown[Member] extends readonly (infer Item)[]
    ? readonly [member: Member, columns: readonly (keyof Item & string)[]]
    : never
}[keyof Shown]

export const runParts: Parts<RunWithSteps> = [
  "steps",
  ["name", "status", "started_at", "completed_at", "error_message"],
]
export const buildParts: Parts<BuildWithEvents> = ["events", ["created_at", "new_status", "phase"]]

/** A value of a record as a cell: what isn't plain is JSON. */
const cellOf = (value: unknown): Cell => (typeof value === "string" || value === null ? value : JSON.stringify(value))

/** Records as a table with these members as columns. */
export const recordTable = <Shown extends object>(
  records: readonly Shown[],
  columns: readonly (keyof Shown & string)[],
  style: Style,
): string => {
  const heading = columns.map((name) => name.replaceAll("_", " ").toUpperCase())
  const rows = records.map((record) => columns.map((name) => cellOf(record[name])))
  return table(heading, rows, style)
}

/** A record's members, and the list inside it as a table. */
export const recordText = <Shown extends object>(record: Shown, style: Style, parts?: Parts<Shown>): string => {
  const [member, columns] = parts ?? []
  const own = Object.entries<unknown>({ ...(record as object) }).filter(([name]) => name !== member)
  const rows = own.map(([name, value]) => [name, cellOf(value)] as const)
  const about = pairs(rows, style)
  const items = member === undefined ? [] : (record[member] as readonly object[])
  return items.length === 0 ? about : `${about}\n\n${recordTable(items, columns ?? [], style)}`
}
