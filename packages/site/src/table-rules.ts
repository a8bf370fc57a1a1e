import { type createParser, plainText } from "./markdown.ts"
import { type Reading, readingOf } from "./reading.ts"

type Parser = ReturnType<typeof createParser>
type Token = ReturnType<Parser["parse"]>[number]

/** Whether the next row with an anchor stands in the section that is being rendered. */
const isBelow = ({ page, section: current, row }: Reading): boolean => {
  const { start = 0 } = page.rows[row] ?? {}
  const section = page.sections[current]
  const next = page.sections[current + 1]
  return section !== undefined && section.start <= start && (next === undefined || start < next.start)
}

const isEmptyHeader = (token: Token | undefined, inline: Token | undefined): boolean =>
  token?.tag === "th" && inline?.content === ""

// Each cell repeats it.
const longestColumn = 40

/** The name of a cell's column, where it has one worth repeating: of two columns the second is plain. */
const columnOf = ({ heads, column }: Reading): string => (heads.length > 2 && column > 0 ? (heads[column] ?? "") : "")

/**
 * Teaches a parser to scroll wide tables, to anchor rows, and to name a cell's column: on a narrow screen cells stand below one
 * another.
 */
export const addTableRules = (parser: Parser): void => {
  const { rules } = parser.renderer
  const { escapeHtml } = parser.utils
  rules["table_open"] = (_tokens, _index, _options, env) => {
    readingOf(env).heads = []
    return '<div class="table" tabindex="0"><table>\n'
  }
  rules["table_close"] = () => "</table></div>\n"
  rules["tr_open"] = (tokens, index, _options, env) => {
    const reading = readingOf(env)
    const { rows } = reading.page
    reading.column = 0
    const name = rows.length === 0 ? undefined : /^`([^`]+)`$/.exec(tokens[index + 2]?.content ?? "")?.[1]
    // Rows come in the page's order, and only those that have an anchor are counted.
    const row = rows[reading.row]
    if (name === undefined || row?.heading !== name || !isBelow(reading)) return "<tr>"
    reading.row++
    return `<tr id="${escapeHtml(row.anchor)}">`
  }
  for (const cell of ["th", "td"]) {
    rules[`${cell}_open`] = (tokens, index, _options, env) => {
      const reading = readingOf(env)
      if (cell === "th") reading.heads.push(plainText(tokens[index + 1]?.content ?? "").slice(0, longestColumn))
      const column = cell === "td" ? columnOf(reading) : ""
      const label = column === "" ? "" : ` data-label="${escapeHtml(column)}"`
      reading.column++
      // A header that heads nothing is a cell: whoever listens would be told of a header without a name.
      const name = isEmptyHeader(tokens[index], tokens[index + 1]) ? "td" : cell
      const side = /text-align:(left|center|right)/.exec(String(tokens[index]?.attrGet("style") ?? ""))?.[1]
      return `<${name}${side === undefined ? "" : ` class="${side}"`}${label}>`
    }
    rules[`${cell}_close`] = (tokens, index) => `</${isEmptyHeader(tokens[index], tokens[index - 1]) ? "td" : cell}>`
  }
}
