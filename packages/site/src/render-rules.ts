import { createParser, plainText, readHeading } from "./markdown.ts"
import { addBoxes } from "./boxes.ts"
import type { Highlighter } from "./highlight.ts"
import type { Links } from "./links.ts"
import type { SitePage } from "./markdown.ts"

/** What the renderer's rules know of the page at hand. */
export type Reading = {
  readonly page: SitePage
  readonly links: Links
  readonly highlight: Highlighter
  /** The page's sections, by the line of their heading. */
  readonly sectionAt: ReadonlyMap<number, number>
  /** Names of components that the page closes somewhere: their tags are no text. */
  readonly components: ReadonlySet<string>
  section: number
  row: number
  inLink: boolean
  /** The columns of the table that is being rendered, and the one of the next cell. */
  heads: string[]
  column: number
}

/** The parser of pages that are shown. Its rules take a `Reading` as their environment. */
export const parser = createParser()
addBoxes(parser)
const { escapeHtml } = parser.utils
const { rules } = parser.renderer
type Token = ReturnType<typeof parser.parse>[number]

/** Says how a token is shown. @param near the token so many places behind it */
const show = (
  type: string,
  rule: (token: Token, reading: Reading, near: (offset: number) => Token | undefined) => string,
): void => {
  rules[type] = (tokens, index, _options, env) => {
    const token = tokens[index]
    return token === undefined ? "" : rule(token, env as Reading, (offset) => tokens[index + offset])
  }
}

/** `{#anchor}` behind a heading is no text. */
const dropAnchor = (inline: Token | undefined): void => {
  const last = inline?.children?.at(-1)
  const isOwn = inline !== undefined && readHeading(inline.content).id !== undefined
  if (isOwn && last?.type === "text") last.content = readHeading(last.content).text
}

export const codeBlock = (html: string, language: string, title = ""): string =>
  `<div class="code"${language === "" ? "" : ` data-language="${escapeHtml(language)}"`}>${title === "" ? "" : `<p class="title">${escapeHtml(title)}</p>`}<pre tabindex="0"><code>${html}</code></pre></div>\n`

const longestInfo = 500
/** The name that an author gave to code: `[name]`, `title="name"` or `file=name` behind its language. */
const codeTitle = (info: string): string => {
  const [, label, quoted, word] =
    /\[([^[\]]+)\]|\b(?:title|file|filename)=(?:"([^"]*)"|([^\s"}]+))/.exec(info.slice(0, longestInfo)) ?? []
  return label ?? quoted ?? word ?? ""
}

// Only what a browser shows as a picture and nothing else.
const ownImage = /^data:image\/(?:png|gif|jpeg|webp);base64,/

show("heading_open", ({ tag, map }, reading, near) => {
  const found = reading.sectionAt.get(map?.[0] ?? -1) ?? -1
  const section = reading.page.sections[found]
  if (section === undefined) return `<${tag}>`
  reading.section = found
  dropAnchor(near(1))
  return `<${tag} id="${escapeHtml(section.anchor)}">`
})
show("heading_close", ({ tag }, { page, sectionAt }, near) => {
  const section = page.sections[sectionAt.get(near(-2)?.map?.[0] ?? -1) ?? -1]
  if (section === undefined || section.level === 1) return `</${tag}>\n`
  const anchor = escapeHtml(encodeURIComponent(section.anchor))
  return ` <a class="anchor" href="#${anchor}" aria-label="Link to: ${escapeHtml(section.heading)}">#</a></${tag}>\n`
})
const shells: ReadonlySet<string> = new Set(["bash", "console", "sh", "shell"])
/** A shell command whose options stay whole where a line ends: a browser would break them after a hyphen. */
const withWholeOptions = (code: string): string =>
  code.replaceAll(/(?<=\s)--?[a-z][\w-]*/gi, '<span class="whole">$&</span>')

show("fence", ({ content, info }, { highlight }) => {
  const language = /^[\w+#.-]+/.exec(info.trim())?.[0] ?? ""
  const code = highlight(content, language.toLowerCase()) ?? escapeHtml(content)
  return codeBlock(shells.has(language) ? withWholeOptions(code) : code, language, codeTitle(info))
})
/** `GET /path` has its method as a badge. */
show("code_inline", ({ content }) => {
  const [, method, rest = ""] = /^(GET|HEAD|POST|PUT|PATCH|DELETE) ([\w/{][^\s]*)$/.exec(content) ?? []
  return rest.includes("/")
    ? `<code><b class="method">${method}</b> ${escapeHtml(rest)}</code>`
    : `<code>${escapeHtml(content)}</code>`
})
show("code_block", ({ content }) => codeBlock(escapeHtml(content), ""))

// HTML in a page is shown, not obeyed; a comment is for its author.
const asText = (html: string): string => escapeHtml(html.replace(/^\s*<!--.*-->\s*$/s, "").trimEnd())
/** A component of some other tool's: `<Badge text="new" />`, or a pair of tags. `Map<Key>` is none. */
const component = /<(\/?)([A-Z][\w.]*)(?:\s[^<>]*?)?(\/?)>/g
const withoutComponents = (html: string, { components }: Reading): string =>
  html.replace(component, (tag, _slash, name: string, closed: string) =>
    closed !== "" || components.has(name) ? "" : tag,
  )
const lineBreak = /^\s*<br\s*\/?>\s*$/i
show("html_inline", ({ content }, reading) =>
  lineBreak.test(content) ? "<br>" : asText(withoutComponents(content, reading)),
)
show("html_block", ({ content }, reading) => {
  if (lineBreak.test(content)) return ""
  const left = withoutComponents(content, reading)
  // What stands between a component's tags is the page's text.
  if (left !== content && !left.includes("<") && left.trim() !== "")
    return `<p>${parser.renderInline(left.trim(), reading)}</p>\n`
  const text = asText(left)
  return text === "" ? "" : `<p class="raw">${text}</p>\n`
})

show("link_open", (token, reading) => {
  reading.inLink = true
  const href = reading.links.link(String(token.attrGet("href") ?? ""), reading.page)
  return href === undefined ? "<a>" : `<a href="${escapeHtml(href)}">`
})
show("link_close", (_token, reading) => {
  reading.inLink = false
  return "</a>"
})
show("image", (token, reading) => {
  const { page, links, inLink } = reading
  const source = String(token.attrGet("src") ?? "")
  const alt = escapeHtml(parser.renderer.renderInlineAsText(token.children ?? [], parser.options, reading))
  const own = ownImage.test(source) ? source : links.image(source, page)
  if (own !== undefined) return `<img src="${escapeHtml(own)}" alt="${alt}" loading="lazy">`
  // Nothing is fetched from elsewhere for a reader who did not ask for it. A link can't stand inside another.
  const text = alt === "" ? "Image" : alt
  const href = links.link(source, page)
  return href === undefined || !/^https?:/.test(href) || inLink ? text : `<a href="${escapeHtml(href)}">${text}</a>`
})

/** Whether the next row with an anchor stands in the section that is being rendered. */
const isBelow = ({ page, section: current, row }: Reading): boolean => {
  const { start = 0 } = page.rows[row] ?? {}
  const section = page.sections[current]
  const next = page.sections[current + 1]
  return section !== undefined && section.start <= start && (next === undefined || start < next.start)
}

// A header that heads nothing is a cell: whoever listens would be told of a header without a name.
const shownCell = (cell: string, inline: Token | undefined): string => (inline?.content === "" ? "td" : cell)

// Each cell repeats it.
const longestColumn = 40

/** The name of a cell's column, where it has one worth repeating: of two columns the second is plain. */
const columnOf = ({ heads, column }: Reading): string => (heads.length > 2 && column > 0 ? (heads[column] ?? "") : "")

// Wide tables scroll, rows have anchors, and a cell names its column: on a narrow screen cells stand below one another.
show("table_open", (_token, reading) => {
  reading.heads = []
  return '<div class="table" tabindex="0"><table>\n'
})
show("table_close", () => "</table></div>\n")
show("tr_open", (_token, reading, near) => {
  const { rows } = reading.page
  reading.column = 0
  const name = rows.length === 0 ? undefined : /^`([^`]+)`$/.exec(near(2)?.content ?? "")?.[1]
  // Rows come in the page's order, and only those that have an anchor are counted.
  const row = rows[reading.row]
  if (name === undefined || row?.heading !== name || !isBelow(reading)) return "<tr>"
  reading.row++
  return `<tr id="${escapeHtml(row.anchor)}">`
})
for (const cell of ["th", "td"]) {
  show(`${cell}_open`, (token, reading, near) => {
    if (cell === "th") reading.heads.push(plainText(near(1)?.content ?? "").slice(0, longestColumn))
    const column = cell === "td" ? columnOf(reading) : ""
    const label = column === "" ? "" : ` data-label="${escapeHtml(column)}"`
    reading.column++
    const side = /text-align:(left|center|right)/.exec(String(token.attrGet("style") ?? ""))?.[1]
    return `<${shownCell(cell, near(1))}${side === undefined ? "" : ` class="${side}"`}${label}>`
  })
  show(`${cell}_close`, (_token, _reading, near) => `</${shownCell(cell, near(-1))}>`)
}
