import { setImmediate as nextTurn } from "node:timers/promises"
import { createParser, lineStarts, readHeading } from "./markdown.ts"
import type { SitePage } from "./page.ts"
import type { Highlighter } from "./highlight.ts"
import type { Links } from "./links.ts"
import { addBoxes } from "./boxes.ts"
import { type Reading, readingOf } from "./reading.ts"
import { addTableRules } from "./table-rules.ts"

const parser = createParser()
addBoxes(parser)
// What is left of the parser when it finds blocks alone, which takes a small part of the time.
const blockParser = createParser()
addBoxes(blockParser)
blockParser.core.ruler.disable(["inline", "linkify", "replacements", "smartquotes", "text_join"])
const { escapeHtml } = parser.utils
type Token = ReturnType<typeof parser.parse>[number]

/** `{#anchor}` behind a heading is no text. */
const dropAnchor = (inline: Token | undefined): void => {
  const last = inline?.children?.at(-1)
  if (last?.type === "text") last.content = readHeading(last.content).text
}

const codeBlock = (html: string, language: string, title = ""): string =>
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

const { rules } = parser.renderer

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

addTableRules(parser)

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

/** A page's text as HTML: sections have the anchors of the Markdown, nothing that the author wrote is markup. */
export const renderPage = async (page: SitePage, links: Links, highlight: Highlighter): Promise<string> => {
  const body = page.markdown.slice(page.bodyStart)
  if (body.length > longestRendered) return codeBlock(escapeHtml(body), "")
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
