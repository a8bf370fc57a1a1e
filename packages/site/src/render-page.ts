import { setImmediate as nextTurn } from "node:timers/promises"
import { addBoxes } from "./boxes.ts"
import type { Highlighter } from "./highlight.ts"
import type { Links } from "./links.ts"
import { createParser, lineStarts } from "./markdown.ts"
import type { SitePage } from "./markdown.ts"
import { type Reading, codeBlock, parser } from "./render-rules.ts"

// What is left of the parser when it finds blocks alone, which takes a small part of the time.
const blockParser = createParser()
addBoxes(blockParser)
blockParser.core.ruler.disable(["inline", "linkify", "replacements", "smartquotes", "text_join"])
type Token = ReturnType<typeof parser.parse>[number]

// Characters rendered before other requests get a turn: about 10 ms, where all of them are highlighted code.
const turnLength = 10_000
/** A longer page is shown as its Markdown: finding its blocks alone would hold up other requests. */
export const longestRendered = 262_144

/** Whether a run may start with a token: no rule looks back from there to the token before. */
const startsRun = ({ level, nesting, type }: Token): boolean =>
  nesting >= 0 && (level === 0 || type === "tr_open" || type === "list_item_open")

/** Blocks, rows and list items in runs of about `turnLength` characters. */
const runsOf = (tokens: readonly Token[]): Token[][] => {
  const runs: Token[][] = [[]]
  let length = 0
  for (const token of tokens) {
    if (length > turnLength && startsRun(token)) {
      runs.push([])
      length = 0
    }
    runs.at(-1)?.push(token)
    length += token.content.length
  }
  return runs
}

/**
 * A page's text as HTML: sections have the anchors of the Markdown, nothing that the author wrote is markup.
 * @example
 * ```ts
 * const html = await renderPage(page, createLinks(folder, baseUrl), await loadHighlighter())
 * ```
 */
export const renderPage = async (page: SitePage, links: Links, highlight: Highlighter): Promise<string> => {
  const body = page.markdown.slice(page.bodyStart)
  if (body.length > longestRendered) return codeBlock(parser.utils.escapeHtml(body), "")
  const lines = new Map(lineStarts(body).map((start, line) => [start, line]))
  const sectionAt = page.sections.map(({ start }, index): [number, number] => [
    lines.get(start - page.bodyStart) ?? -1,
    index,
  ])
  const reading = {
    page,
    links,
    highlight,
    sectionAt: new Map(sectionAt),
    components: new Set(Array.from(body.matchAll(/<\/([A-Z][\w.]*)\s*>/g), ([, name = ""]) => name)),
    section: -1,
    row: 0,
    inLink: false,
    heads: [],
    column: 0,
  } satisfies Reading
  let html = ""
  for (const run of runsOf(blockParser.parse(body, reading))) {
    const state = new parser.core.State("", parser, reading)
    state.tokens = run
    parser.core.process(state)
    html += parser.renderer.render(state.tokens, parser.options, reading)
    await nextTurn()
  }
  return html
}
