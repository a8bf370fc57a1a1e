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
  /** The section that is being rendered. */
  section: number
  row: number
  inLink: boolean
  /** The columns of the table that is being rendered, and the one of the next cell. */
  heads: string[]
  column: number
}

const readingOf = (env: unknown): Reading => env as Reading

/** The parser of pages that are shown. Its rules take a `Reading` as their environment. */
export const parser = createParser()
addBoxes(parser)
const { escapeHtml } = parser.utils
const { rules } = parser.renderer
type Token = ReturnType<typeof parser.parse>[number]

/** `{#anchor}` behind a heading is no text. */
const dropAnchor = (inline: Token | undefined): void => {
  const last = inline?.children?.at(-1)
  if (last?.type === "text") last.content = readHeading(last.content).text
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

rules["heading_open"] = (tokens, index, _options, env) => {
  const reading = readingOf(env)
  const token = tokens[index]
  const found = reading.sectionAt.get(token?.map?.[0] ?? -1)
  const section = reading.page.sections[found ?? -1]
  if (found === undefined || section === undefined) return `<${token?.tag}>`
  reading.section = found
  dropAnchor(tokens[index + 1])
  return `<${token?.tag} id="${escapeHtml(section.anchor)}">`
}
rules["heading_close"] = (tokens, index, _options, env) => {
  const { page, sectionAt } = readingOf(env)
  const token = tokens[index]
  const section = page.sections[sectionAt.get(tokens[index - 2]?.map?.[0] ?? -1) ?? -1]
  if (section === undefined || section.level === 1) return `</${token?.tag}>\n`
  const anchor = escapeHtml(encodeURIComponent(section.anchor))
  return ` <a class="anchor" href="#${anchor}" aria-label="Link to: ${escapeHtml(section.heading)}">#</a></${token?.tag}>\n`
}
rules["fence"] = (tokens, index, _options, env) => {
  const { content = "", info = "" } = tokens[index] ?? {}
  const language = /^[\w+#.-]+/.exec(info.trim())?.[0] ?? ""
  return codeBlock(
    readingOf(env).highlight(content, language.toLowerCase()) ?? escapeHtml(content),
    language,
    codeTitle(info),
  )
}
/** `GET /path` has its method as a badge. */
rules["code_inline"] = (tokens, index) => {
  const text = tokens[index]?.content ?? ""
  const [, method, rest = text] = /^([A-Z]{3,7}) ([\w/{][^\s]*)$/.exec(text) ?? []
  const isCall = method !== undefined && /^(?:GET|HEAD|POST|PUT|PATCH|DELETE)$/.test(method) && rest.includes("/")
  return isCall
    ? `<code><b class="method">${method}</b> ${escapeHtml(rest)}</code>`
    : `<code>${escapeHtml(text)}</code>`
}
rules["code_block"] = (tokens, index) => codeBlock(escapeHtml(tokens[index]?.content ?? ""), "")

// HTML in a page is shown, not obeyed; a comment is for its author.
const asText = (html: string): string => escapeHtml(html.replace(/^\s*<!--.*-->\s*$/s, "").trimEnd())
/** A component of some other tool's: `<Badge text="new" />`, or a pair of tags. `Map<Key>` is none. */
const component = /<(\/?)([A-Z][\w.]*)(?:\s[^<>]*?)?(\/?)>/g
const withoutComponents = (html: string, { components }: Reading): string =>
  html.replace(component, (tag, _slash, name: string, closed: string) =>
    closed !== "" || components.has(name) ? "" : tag,
  )
const lineBreak = /^\s*<br\s*\/?>\s*$/i
rules["html_inline"] = (tokens, index, _options, env) => {
  const { content = "" } = tokens[index] ?? {}
  return lineBreak.test(content) ? "<br>" : asText(withoutComponents(content, readingOf(env)))
}
rules["html_block"] = (tokens, index, _options, env) => {
  const { content = "" } = tokens[index] ?? {}
  if (lineBreak.test(content)) return ""
  const left = withoutComponents(content, readingOf(env))
  if (left.trim() === "") return ""
  // What stands between a component's tags is the page's text.
  if (left !== content && !left.includes("<")) return `<p>${parser.renderInline(left.trim(), env)}</p>\n`
  const text = asText(left)
  return text === "" ? "" : `<p class="raw">${text}</p>\n`
}

rules["link_open"] = (tokens, index, _options, env) => {
  const reading = readingOf(env)
  const { page, links } = reading
  reading.inLink = true
  const href = links.link(String(tokens[index]?.attrGet("href") ?? ""), page)
  return href === undefined ? "<a>" : `<a href="${escapeHtml(href)}">`
}
rules["link_close"] = (_tokens, _index, _options, env) => {
  readingOf(env).inLink = false
  return "</a>"
}
rules["image"] = (tokens, index, options, env, self) => {
  const { page, links, inLink } = readingOf(env)
  const token = tokens[index]
  const source = String(token?.attrGet("src") ?? "")
  const alt = escapeHtml(self.renderInlineAsText(token?.children ?? [], options, env))
  const own = ownImage.test(source) ? source : links.image(source, page)
  if (own !== undefined) return `<img src="${escapeHtml(own)}" alt="${alt}" loading="lazy">`
  // Nothing is fetched from elsewhere for a reader who did not ask for it. A link can't stand inside another.
  const text = alt === "" ? "Image" : alt
  const href = links.link(source, page)
  return href === undefined || !/^https?:/.test(href) || inLink ? text : `<a href="${escapeHtml(href)}">${text}</a>`
}

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

// Wide tables scroll, rows have anchors, and a cell names its column: on a narrow screen cells stand below one another.
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
