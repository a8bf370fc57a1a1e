import type { BuildWithEvents, RunWithSteps } from "@svc/client"
import type { Style } from "./style.ts"
import { type Cell, pairs, table } from "./table.ts"

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

type Lists = Partial<Pick<BuildWithEvents, "events"> & Pick<RunWithSteps, "steps">>

/** A record's members, and a build's events or a run's steps as a table. */
export const recordText = (record: object, style: Style): string => {
  const { events = [], steps = [], ...own }: Lists = record
  const rows = Object.entries<unknown>(own).map(([name, value]) => [name, cellOf(value)] as const)
  const texts = [pairs(rows, style)]
  if (events.length > 0) texts.push(recordTable(events, ["created_at", "new_status", "phase"], style))
  if (steps.length > 0) {
    texts.push(recordTable(steps, ["name", "status", "started_at", "completed_at", "error_message"], style))
  }
  return texts.join("\n\n")
}
