// Live records as a table that fits on the terminal.
import type { Screen } from "../command.ts"
import { isObject } from "@svc/common/json-object"
import type { Style } from "../output/style.ts"
import { plain, table } from "../output/table.ts"

const widestCell = 16

/** Every value of a record with its path, such as `amount.lamports`. */
const valuesOf = (value: unknown, path = ""): readonly (readonly [string, string])[] => {
  if (isObject(value)) {
    return Object.entries(value).flatMap(([name, inner]) => valuesOf(inner, path === "" ? name : `${path}.${name}`))
  }
  const text = value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value)
  return [[path, text]]
}

const shortened = (text: string): string => {
  const shown = plain(text)
  return shown.length > widestCell ? `${shown.slice(0, widestCell - 1)}…` : shown
}

/** As many records and as many of their fields as fit on the terminal. */
export const recordTable = (records: ReadonlyMap<string, unknown>, { columns, rows }: Screen, style: Style): string => {
  // The other lines are the title, the heading and the line of the cursor.
  const most = Math.max(1, rows - 4)
  const shown = [...records].slice(0, most).map(([key, record]) => ({ key, values: new Map(valuesOf(record)) }))
  const paths = [...new Set(shown.flatMap(({ values }) => [...values.keys()]))].filter((path) =>
    // Columns that are empty or repeat the key are left out.
    shown.some(({ key, values }) => ![undefined, "", key].includes(values.get(path))),
  )
  const all = [
    { heading: "KEY", cells: shown.map(({ key }) => shortened(key)) },
    ...paths.map((path) => ({ heading: path, cells: shown.map(({ values }) => shortened(values.get(path) ?? "")) })),
  ]
  let width = -2
  const fitting = all.filter(({ heading, cells }) => {
    const needed = Math.max(heading.length, ...cells.map((cell) => cell.length)) + 2
    if (width + needed > columns) return false
    width += needed
    return true
  })
  const headings = fitting.map(({ heading }) => heading)
  const lines = shown.map((_, row) => fitting.map(({ cells }) => cells[row] ?? ""))
  const text = table(headings, lines, style)
  return records.size > most ? `${text}\n… and ${records.size - most} more` : text
}
