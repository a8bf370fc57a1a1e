import { oneLine, withoutUnseen } from "@svc/common/foreign-text"
import type { Style } from "./style.ts"
import { hang, widthOf, wrap } from "./wrap.ts"

/** Text from a server as one line that is safe on a terminal. */
export const plain = oneLine

/** Like `plain`, for text of several lines. */
export const plainLines = (text: string): string =>
  withoutUnseen(text.replaceAll("\r\n", "\n").replaceAll(/(?![\n\t])\p{Cc}/gu, ""))

/** All that is written to a terminal, whoever wrote its parts: of control characters it keeps lines, tabs and our own styles. */
export const forTerminal = (text: string): string =>
  withoutUnseen(
    text.replaceAll(/(?![\n\t])(\p{Cc})(\[(?:1|22|31|36|39)m)?/gu, (all: string, sign: string, style = "") =>
      sign === "\u001b" && style !== "" ? all : style,
    ),
  )

/** A value in a table. Nothing is an empty cell. */
export type Cell = string | number | boolean | readonly string[] | null | undefined

// A column is as wide as its widest cell on every line.
const widest = 1000
const cellOf = (value: Cell): string => {
  const text = Array.isArray(value) ? value.join(" ") : String(value ?? "")
  return text.length > widest ? `${plain(text.slice(0, widest))}…` : plain(text)
}

const gap = 2
// A column narrower than this is hard to read.
const narrowest = 10

const total = (widths: readonly number[]): number => widths.reduce((sum, one) => sum + one + gap, -gap)

/** Narrows the widest columns until all fit, or none can become narrower. */
const fittingWidths = (natural: readonly number[], width: number): readonly number[] => {
  const widths = [...natural]
  for (let excess = total(widths) - width; excess > 0; excess--) {
    const most = Math.max(...widths)
    if (most <= narrowest) break
    widths[widths.indexOf(most)] = most - 1
  }
  return widths
}

/** Names and values, one pair a line. Pairs without a value are left out. */
export const pairs = (rows: readonly (readonly [string, Cell])[], { width }: Pick<Style, "width">): string => {
  const filled = rows.map(([name, value]) => [plain(name), cellOf(value)] as const).filter(([, text]) => text !== "")
  const left = Math.max(0, ...filled.map(([name]) => name.length)) + gap
  return filled.map(([name, text]) => hang(name.padEnd(left), text, width)).join("\n")
}

/** Rows below a heading. On a narrow terminal each row becomes a block of pairs if that takes fewer lines than a table. */
export const table = (titles: readonly string[], rows: readonly (readonly Cell[])[], style: Style): string => {
  const heading = titles.map(cellOf)
  const cells = rows.map((row) => heading.map((_, column) => cellOf(row[column])))
  const natural = heading.map((name, column) =>
    cells.reduce((width, row) => Math.max(width, widthOf(row[column] ?? "")), name.length),
  )
  const { bold, width = Infinity } = style
  const widths = fittingWidths(natural, width)
  const lineOf = (parts: readonly string[]): string =>
    parts
      .map((part, column) => part + " ".repeat(Math.max(0, (widths[column] ?? 0) - widthOf(part))))
      .join(" ".repeat(gap))
      .trimEnd()
  const linesOf = (row: readonly string[]): string[] => {
    const wrapped = row.map((cell, column) => wrap(cell, widths[column] ?? 0))
    const height = Math.max(...wrapped.map((parts) => parts.length))
    return Array.from({ length: height }, (_, index) => lineOf(wrapped.map((parts) => parts[index] ?? "")))
  }
  const lines = [...linesOf(heading).map(bold), ...cells.flatMap(linesOf)]
  if (total(natural) <= width) return lines.join("\n")
  if (cells.length === 0) return wrap(heading.join(", "), width).map(bold).join("\n")
  const blockOf = (row: readonly string[]): string => {
    const named = heading.map((name, column) => [name, row[column] ?? ""] as const)
    return pairs(named, style)
  }
  const blocks = cells.map(blockOf).join("\n\n")
  return total(widths) <= width && lines.length <= blocks.split("\n").length ? lines.join("\n") : blocks
}
