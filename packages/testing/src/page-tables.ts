/** A table of a Markdown page: the heading above it, the names of its columns, and the cells of its rows. */
export type PageTable = {
  readonly heading: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

const cellsOf = (line: string): string[] =>
  line
    .replace(/^\|/, "")
    .replace(/\|\s*$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())

/** The tables of a page outside its code blocks, in their order. */
export const readPageTables = (markdown: string): readonly PageTable[] => {
  const tables: { heading: string; columns: string[]; rows: string[][] }[] = []
  let heading = ""
  let isTable = false
  const lines = markdown.replaceAll(/^```[^]*?^```$/gm, "").split("\n")
  for (const [i, line] of lines.entries()) {
    heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading
    if (/^\|[\s:|-]+\|$/.test(line)) {
      tables.push({ heading, columns: cellsOf(lines[i - 1] ?? ""), rows: [] })
      isTable = true
    } else if (!line.startsWith("|")) isTable = false
    else if (isTable) tables.at(-1)?.rows.push(cellsOf(line))
  }
  return tables
}

/** What stands as inline code in a cell. */
export const codeIn = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code)
