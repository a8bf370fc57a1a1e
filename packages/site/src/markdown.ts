import MarkdownIt from "markdown-it"

/** A heading and all below it, down to the next heading of its rank or higher. Offsets are in characters. */
export type Section = {
  readonly anchor: string
  readonly heading: string
  readonly level: number
  readonly start: number
  readonly end: number
  /** What fetching this section costs. */
  readonly tokens: number
}

/** A table's row that has an anchor of its own. */
export type Row = Omit<Section, "level">

/** How an operation can be tried out on its page: without a key, with a key, or with a session token. */
export const trials = ["open", "key", "token"] as const
export type Trial = (typeof trials)[number]

export type SitePage = {
  readonly slug: string
  /** Its path in the folder, `/` between the parts. */
  readonly file: string
  readonly title: string
  readonly description: string
  /** Where its author wants it in the navigation. */
  readonly section?: string | undefined
  readonly order?: number | undefined
  /** The heading in its section's list that it stands under. */
  readonly group?: string | undefined
  /** Of an operation's page: the HTTP method. */
  readonly method?: string | undefined
  /** Of an operation that a reader may try out on its page. */
  readonly trial?: Trial | undefined
  readonly markdown: string
  /** Where the page's text starts, behind the front matter. */
  readonly bodyStart: number
  readonly sections: readonly Section[]
  readonly rows: readonly Row[]
}

// Each list is two levels. The parser's own bound is above this one: it would drop all that follows.
const deepestBlock = 80
const mostNesting = 100

/** The parser of everything that is read or shown as HTML, so that both find the same headings. */
export const createParser = () => {
  const parser = new MarkdownIt({ html: true, maxNesting: mostNesting })
  // Whatever it leads to, it is a link: who shows it decides where it may lead.
  parser.validateLink = () => true
  parser.block.ruler.before("table", "too_deep", (state, startLine, endLine) => {
    if (state.level < deepestBlock) return false
    let line = startLine + 1
    while (line < endLine && (state.isEmpty(line) || (state.sCount[line] ?? 0) >= state.blkIndent)) line++
    const token = state.push("code_block", "code", 0)
    token.content = state.getLines(startLine, line, state.blkIndent, false)
    token.map = [startLine, line]
    state.line = line
    return true
  })
  return parser
}

const parser = createParser()
// Where blocks start is all that is wanted of a whole page: exact by CommonMark, nested and unclosed fences included.
const blockParser = createParser()
blockParser.core.ruler.enableOnly(["normalize", "block"])

/** The measure that the tools promise: a token is four characters. */
export const countTokens = (characters: number): number => Math.ceil(characters / 4)

/** Where each line starts. */
export const lineStarts = (text: string): number[] => {
  const starts = [0]
  for (const match of text.matchAll(/\r\n?|\n/g)) starts.push(match.index + match[0].length)
  return starts
}

type Inline = ReturnType<typeof parser.parse>

const textOf = (tokens: Inline): string =>
  tokens
    .map(({ type, content, children }) => {
      if (type === "code_inline") return content
      // What a reference leads to stands elsewhere on the page.
      if (type === "text" || type === "text_special") return content.replace(/\[([^[\]]+)\]\[[^[\]]*\]/g, "$1")
      if (type === "softbreak" || type === "hardbreak") return " "
      return children === null ? "" : textOf(children)
    })
    .join("")

// More than any title, heading or snippet needs.
const longestInline = 4000
const longestHeading = 300

/** Inline Markdown as readers see it: no marks, no tags but those in code, link texts without their targets. */
export const plainText = (markdown: string): string =>
  textOf(parser.parseInline(markdown.slice(0, longestInline), {}))
    .replace(/\s+/g, " ")
    .trim()

const anchorOf = (heading: string, taken: Map<string, number>): string => {
  const letters = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-")
  const base = letters === "" ? "section" : letters
  const seen = taken.get(base)
  taken.set(base, (seen ?? -1) + 1)
  return seen === undefined ? base : anchorOf(`${base}-${seen + 1}`, taken)
}

/** A heading's text and the anchor that its author gave it: `Text {#anchor}`. */
export const readHeading = (content: string): { readonly text: string; readonly id: string | undefined } => {
  const whole = content.trimEnd()
  const mark = whole.endsWith("}") ? whole.lastIndexOf("{#") : -1
  const id = whole.slice(mark + 2, -1)
  return mark !== -1 && /^[\w-]+$/.test(id)
    ? { text: whole.slice(0, mark).trimEnd(), id }
    : { text: whole, id: undefined }
}

/** The blocks of a page whose Markdown starts at `bodyStart`, behind its front matter. */
export const blocksOf = (markdown: string, bodyStart: number) => blockParser.parse(markdown.slice(bodyStart), {})

export type Blocks = ReturnType<typeof blocksOf>

/** The lines that are blocks of code, as pairs: the first one, and the one behind the last. */
export const codeLines = (blocks: Blocks): (readonly [number, number])[] =>
  blocks.flatMap(({ type, map }) => (map !== null && (type === "fence" || type === "code_block") ? [map] : []))

type Heading = Omit<Section, "end" | "tokens">

const closeSections = (headings: readonly Heading[], length: number): Section[] => {
  const open: number[] = []
  const ends = headings.map(() => length)
  for (const [index, heading] of headings.entries()) {
    for (
      let last = open.at(-1);
      last !== undefined && (headings[last]?.level ?? 0) >= heading.level;
      last = open.at(-1)
    )
      ends[open.pop() ?? 0] = heading.start
    open.push(index)
  }
  return headings.map((heading, index) => {
    const end = ends[index] ?? length
    return { ...heading, end, tokens: countTokens(end - heading.start) }
  })
}

/**
 * Finds the sections of a page whose Markdown starts at `bodyStart`, behind its front matter, and where it may be cut.
 * @param blocks the page's, or those it had before its links were changed
 * @param wantsLead whether the first paragraph is read as plain text
 */
export const outline = (
  markdown: string,
  bodyStart: number,
  blocks: Blocks = blocksOf(markdown, bodyStart),
  wantsLead = true,
) => {
  const body = markdown.slice(bodyStart)
  const starts = lineStarts(body)
  const cuts = new Set([0, bodyStart])
  const headings: Heading[] = []
  const taken = new Map<string, number>()
  let lead = ""

  for (const [index, token] of blocks.entries()) {
    if (token.map === null || token.nesting < 0) continue
    const line = token.map[0]
    const start = starts[line] ?? 0
    // A loose list may be cut between its items too: some pages are one long list.
    const looseItem =
      token.level === 1 && token.type === "list_item_open" && body.slice(starts[line - 1] ?? 0, start).trim() === ""
    if (token.level === 0 || looseItem) cuts.add(bodyStart + start)
    const content = blocks[index + 1]?.content ?? ""
    if (token.level === 0 && token.type === "heading_open") {
      const { text, id } = readHeading(content)
      const heading = plainText(text).slice(0, longestHeading)
      if (id !== undefined) taken.set(id, 0)
      headings.push({
        anchor: id ?? anchorOf(heading, taken),
        heading,
        level: Number(token.tag.slice(1)),
        start: bodyStart + start,
      })
    } else if (wantsLead && lead === "" && token.level === 0 && token.type === "paragraph_open")
      lead = plainText(content)
  }
  return {
    /** Where the page may be cut: the first character of every block, ascending, 0 first. */
    cuts: [...cuts].filter((cut) => cut === 0 || cut < markdown.length).sort((a, b) => a - b),
    sections: closeSections(headings, markdown.length),
    lead,
  }
}
