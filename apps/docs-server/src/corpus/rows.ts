import { z } from "zod"
import { countTokens, type Row, type Section } from "@svc/site"

const prefixes = z.record(z.string(), z.string())
const named = /^\|[ \t]*`([^`\n]+)`[ \t]*\|.*$/gm

/** The prefix of the rows' anchors below each section, as the page's front matter gives it: `row_anchors: {<section>: <prefix>}`. */
const rowPrefixes = (value: unknown): ReadonlyMap<string, string> =>
  new Map(Object.entries(prefixes.safeParse(value).data ?? {}))

/** The rows of a page that have anchors: `<prefix>-<name>`, of the first row of that name. */
export const rowsOf = (markdown: string, sections: readonly Section[], value: unknown): Row[] => {
  const rows = new Map<string, Row>()
  for (const [section, prefix] of rowPrefixes(value)) {
    const found = sections.find(({ anchor }) => anchor === section)
    if (found === undefined) continue
    for (const match of markdown.slice(found.start, found.end).matchAll(named)) {
      const anchor = `${prefix}-${match[1]}`
      const start = found.start + match.index
      const end = start + match[0].length
      if (!rows.has(anchor))
        rows.set(anchor, { anchor, heading: match[1] ?? "", start, end, tokens: countTokens(end - start) })
    }
  }
  return [...rows.values()]
}
