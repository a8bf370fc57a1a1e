// What other documentation tools add to Markdown, and people alone need to see: `::: tip` boxes, groups of code, `> [!NOTE]`.
import { type createParser, plainText } from "../markdown.ts"

type Parser = ReturnType<typeof createParser>
type Tokens = ReturnType<Parser["parse"]>
type Token = Tokens[number]

/** The looks of notes, by the names that they go by. */
const looks: Readonly<Record<string, string>> = {
  tip: "good",
  success: "good",
  warning: "care",
  caution: "care",
  attention: "care",
  danger: "bad",
  error: "bad",
}
// Boxes that have no look of their own.
const plain = new Set(["raw", "v-pre", "group", "code-group", "tabs"])

const longestTitle = 500
const opening = /^:{3,}\s*([a-z][\w-]*)\s*(.*)$/i
const closing = /^:{3,}\s*$/
const alert = /^\[!([a-z]+)\][+-]?[ \t]*([^\n]*)(?:\n|$)/i

const sentence = (name: string): string =>
  name.charAt(0).toUpperCase() + name.slice(1).toLowerCase().replaceAll("-", " ")

/** `Title`, `[Title]`, `Title {open}` and `{title="Title"}` name a box alike. */
const titleOf = (given: string, name: string): string => {
  const named = /\btitle="([^"]*)"/.exec(given)?.[1]
  const text = given.replace(/\{[^{}]*\}\s*$/, "").trim()
  return plainText(named ?? (/^\[.*\]$/.test(text) ? text.slice(1, -1) : text)) || sentence(name)
}

/** What a page is about, without the marks of the box that it begins with. */
export const describe = ({ description }: { readonly description: string }): string =>
  description.replace(/^(?::{3,}\s*[\w-]*|\[![A-Za-z]+\])\s*/, "").replace(/\s*:{3,}$/, "")

/** Marks become elements; what is still open where its list or quotation ends is closed there, a mark too many is dropped. */
const pairMarks = (tokens: Tokens, make: (type: string, mark: Token, nesting: 1 | -1) => Token): Tokens => {
  const paired: Tokens = []
  const open: Token[] = []
  const close = (): void => {
    const mark = open.pop()
    if (mark !== undefined) paired.push(make("box_close", mark, -1))
  }
  for (const token of tokens) {
    if (token.type !== "box_mark") {
      if (token.nesting < 0) while ((open.at(-1)?.level ?? -1) > token.level) close()
      paired.push(token)
    } else if (token.info !== "") {
      open.push(token)
      paired.push(make("box_open", token, 1))
    } else if (open.at(-1)?.level === token.level) close()
  }
  while (open.length > 0) close()
  return paired
}

/** A quotation that begins with `[!NOTE]` is a note. */
const findAlerts = (tokens: Tokens): void => {
  for (const [index, token] of tokens.entries()) {
    const text = tokens[index + 2]
    if (token.type !== "blockquote_open" || text?.type !== "inline") continue
    const [marked = "", name = "", title = ""] = alert.exec(text.content) ?? []
    if (marked === "") continue
    token.info = name.toLowerCase()
    token.content = plainText(title) || sentence(name)
    text.content = text.content.slice(marked.length)
    for (const around of [tokens[index + 1], tokens[index + 3]])
      if (around !== undefined && text.content === "") around.hidden = true
  }
}

/** Teaches a parser these boxes; headings in them stay sections of the page. */
export const addNotes = (parser: Parser): void => {
  const { escapeHtml } = parser.utils
  parser.block.ruler.before(
    "fence",
    "box",
    (state, startLine, _endLine, silent) => {
      const start = (state.bMarks[startLine] ?? 0) + (state.tShift[startLine] ?? 0)
      if (!state.src.startsWith(":::", start)) return false
      const line = state.src.slice(start, state.eMarks[startLine]).trimEnd()
      const [, name = "", rest = ""] = opening.exec(line) ?? []
      // A directive that ends on its own line is no box.
      if (name === "" ? !closing.test(line) : rest.endsWith(":::")) return false
      if (silent) return true
      const token = state.push("box_mark", "", 0)
      token.info = name.toLowerCase()
      token.content = name === "" ? "" : titleOf(rest.slice(0, longestTitle), name)
      token.map = [startLine, startLine + 1]
      state.line = startLine + 1
      return true
    },
    { alt: ["paragraph", "reference", "blockquote", "list"] },
  )
  parser.core.ruler.after("block", "boxes", (state) => {
    state.tokens = pairMarks(state.tokens, (type, { info, content, level }, nesting) =>
      Object.assign(new state.Token(type, "", nesting), { info, content, level, block: true }),
    )
    findAlerts(state.tokens)
  })
  const { rules } = parser.renderer
  const note = (name: string, title: string, element: string): string =>
    `<${element} class="${`note ${looks[name] ?? ""}`.trim()}"><p class="title">${escapeHtml(title)}</p>\n`
  rules["box_open"] = (tokens, index) => {
    const { info = "", content = "" } = tokens[index] ?? {}
    if (plain.has(info)) return `<div class="${info === "raw" || info === "v-pre" ? "plain" : "group"}">\n`
    if (info === "details") return `<details class="note"><summary>${escapeHtml(content)}</summary>\n`
    return note(info, content, "div")
  }
  rules["box_close"] = (tokens, index) => (tokens[index]?.info === "details" ? "</details>\n" : "</div>\n")
  rules["blockquote_open"] = (tokens, index) => {
    const { info = "", content = "" } = tokens[index] ?? {}
    return info === "" ? "<blockquote>\n" : note(info, content, "blockquote")
  }
}
