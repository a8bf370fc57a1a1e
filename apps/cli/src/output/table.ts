const reordering = /[\u202a-\u202e\u2066-\u2069]/g

/**
 * Text from a server as one line that is safe on a terminal: control characters (they move the cursor, set titles, or
 * type) become spaces, and those that reorder a line go.
 */
export const plain = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .replaceAll(reordering, "")
    .trim()

/** As `plain`, for text of many lines. */
export const plainLines = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replaceAll(/(?![\n\t])\p{Cc}/gu, "")
    .replaceAll(reordering, "")

// A column is as wide as its widest cell on every line.
const widest = 1000
const cellOf = (text: string): string => (text.length > widest ? `${plain(text.slice(0, widest))}…` : plain(text))

const widthOf = (text: string): number => Array.from(text).length

/** Rows below a heading, in columns two spaces apart. */
export const table = (
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  bold: (text: string) => string,
): string => {
  const cells = [heading, ...rows.map((row) => row.map(cellOf))]
  const widths = heading.map((_, column) =>
    cells.reduce((width, row) => Math.max(width, widthOf(row[column] ?? "")), 0),
  )
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell))))
      .join("  ")
      .trimEnd(),
  )
  return [bold(lines[0] ?? ""), ...lines.slice(1)].join("\n")
}

/** Names and values, one pair a line; what has no value is left out. */
export const pairs = (rows: readonly (readonly [string, string])[]): string => {
  const filled = rows.filter(([, value]) => value !== "")
  const width = Math.max(...filled.map(([name]) => name.length))
  return filled.map(([name, value]) => `${name.padEnd(width)}  ${plain(value)}`.trimEnd()).join("\n")
}
