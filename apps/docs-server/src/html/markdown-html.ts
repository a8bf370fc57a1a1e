import { createParser, readHeading } from "../markdown.ts"
import type { Page } from "../corpus.ts"
import type { Highlighter } from "./highlight.ts"
import type { LinkReader } from "./links.ts"

type Reading = {
  readonly page: Page
  readonly linkOf: LinkReader
  readonly highlight: Highlighter
  heading: number
  row: number
  inLink: boolean
}

const parser = createParser()
const { escapeHtml } = parser.utils
type Token = ReturnType<typeof parser.parse>[number]

/** `{#anchor}` behind a heading is no text. */
const dropAnchor = (inline: Token | undefined): void => {
  const last = inline?.children?.at(-1)
  if (last?.type === "text") last.content = readHeading(last.content).text
}

const readingOf = (env: unknown): Reading => env as Reading

const codeBlock = (html: string, language: string): string =>
  `<div class="code"${language === "" ? "" : ` data-language="${escapeHtml(language)}"`}><pre tabindex="0"><code>${html}</code></pre></div>\n`

// Only what a browser shows as a picture and nothing else.
const ownImage = /^data:image\/(?:png|gif|jpeg|webp);base64,/

const { rules } = parser.renderer

rules["heading_open"] = (tokens, index, _options, env) => {
  const reading = readingOf(env)
  const token = tokens[index]
  const section = token?.level === 0 ? reading.page.sections[reading.heading++] : undefined
  if (section === undefined) return `<${token?.tag}>`
  dropAnchor(tokens[index + 1])
  return `<${token?.tag} id="${escapeHtml(section.anchor)}">`
}
rules["heading_close"] = (tokens, index, _options, env) => {
  const { page, heading } = readingOf(env)
  const token = tokens[index]
  const section = token?.level === 0 ? page.sections[heading - 1] : undefined
  if (section === undefined || section.level === 1) return `</${token?.tag}>\n`
  const anchor = escapeHtml(encodeURIComponent(section.anchor))
  return ` <a class="anchor" href="#${anchor}" aria-label="Link to: ${escapeHtml(section.heading)}">#</a></${token?.tag}>\n`
}
rules["fence"] = (tokens, index, _options, env) => {
  const { content = "", info = "" } = tokens[index] ?? {}
  const language = /^[\w+#.-]+/.exec(info.trim())?.[0] ?? ""
  return codeBlock(readingOf(env).highlight(content, language.toLowerCase()) ?? escapeHtml(content), language)
}
rules["code_block"] = (tokens, index) => codeBlock(escapeHtml(tokens[index]?.content ?? ""), "")

// HTML in a page is shown, not obeyed; a comment is for its author.
const asText = (html: string): string => escapeHtml(html.replace(/^\s*<!--.*-->\s*$/s, "").trimEnd())
rules["html_inline"] = (tokens, index) => asText(tokens[index]?.content ?? "")
rules["html_block"] = (tokens, index) => {
  const text = asText(tokens[index]?.content ?? "")
  return text === "" ? "" : `<p class="raw">${text}</p>\n`
}

rules["table_open"] = () => '<div class="table" tabindex="0"><table>\n'
rules["table_close"] = () => "</table></div>\n"
rules["tr_open"] = (tokens, index, _options, env) => {
  const reading = readingOf(env)
  const { rows } = reading.page
  const name = rows.length === 0 ? undefined : /^`([^`]+)`$/.exec(tokens[index + 2]?.content ?? "")?.[1]
  // Rows come in the page's order, and only those that have an anchor are counted.
  const row = rows[reading.row]
  if (name === undefined || row?.heading !== name || !isBelow(reading)) return "<tr>"
  reading.row++
  return `<tr id="${escapeHtml(row.anchor)}">`
}
/** Whether the next row with an anchor stands in the section that is being rendered. */
const isBelow = ({ page, heading, row }: Reading): boolean => {
  const { start = 0 } = page.rows[row] ?? {}
  const section = page.sections[heading - 1]
  const next = page.sections[heading]
  return section !== undefined && section.start <= start && (next === undefined || start < next.start)
}

const isEmptyHeader = (token: Token | undefined, inline: Token | undefined): boolean =>
  token?.tag === "th" && inline?.content === ""
for (const cell of ["th", "td"]) {
  rules[`${cell}_open`] = (tokens, index) => {
    // A header that heads nothing is a cell: whoever listens would be told of a header without a name.
    const name = isEmptyHeader(tokens[index], tokens[index + 1]) ? "td" : cell
    const side = /text-align:(left|center|right)/.exec(String(tokens[index]?.attrGet("style") ?? ""))?.[1]
    return side === undefined ? `<${name}>` : `<${name} class="${side}">`
  }
  rules[`${cell}_close`] = (tokens, index) => `</${isEmptyHeader(tokens[index], tokens[index - 1]) ? "td" : cell}>`
}

rules["link_open"] = (tokens, index, _options, env) => {
  const reading = readingOf(env)
  const { page, linkOf } = reading
  reading.inLink = true
  const href = linkOf(String(tokens[index]?.attrGet("href") ?? ""), page)
  return href === undefined ? "<a>" : `<a href="${escapeHtml(href)}">`
}
rules["link_close"] = (_tokens, _index, _options, env) => {
  readingOf(env).inLink = false
  return "</a>"
}
rules["image"] = (tokens, index, options, env, self) => {
  const { page, linkOf, inLink } = readingOf(env)
  const token = tokens[index]
  const source = String(token?.attrGet("src") ?? "")
  const alt = escapeHtml(self.renderInlineAsText(token?.children ?? [], options, env))
  const own = ownImage.test(source) ? source : linkOf(source, page)
  if (own?.startsWith("/") || own?.startsWith("data:"))
    return `<img src="${escapeHtml(own)}" alt="${alt}" loading="lazy">`
  // Nothing is fetched from elsewhere for a reader who did not ask for it. A link can't stand inside another.
  const text = alt === "" ? "Image" : alt
  return own === undefined || inLink ? text : `<a href="${escapeHtml(own)}">${text}</a>`
}

/** A page's text as HTML: sections have the anchors of the Markdown, nothing that the author wrote is markup. */
export const renderPage = (page: Page, linkOf: LinkReader, highlight: Highlighter): string =>
  parser.render(page.markdown.slice(page.bodyStart), {
    page,
    linkOf,
    highlight,
    heading: 0,
    row: 0,
    inLink: false,
  } satisfies Reading)
