// What VitePress and GitHub add to Markdown for people: `::: tip` boxes, groups of code, `> [!NOTE]`.
import { type createParser, plainText } from "./markdown.ts"

type Parser = ReturnType<typeof createParser>

const looks: Readonly<Record<string, string>> = { tip: "good", warning: "care", caution: "care", danger: "bad" }

const longestTitle = 500
// A directive that ends on its own line isn't a box.
const opening = /^:{3,}\s*([a-z][\w-]*)(?!.*:::$)\s*(.*)$/i
const closing = /^:{3,}$/
const alert = /^\[!([a-z]+)\][ \t]*([^\n]*)(?:\n|$)/i

const titleOf = (given: string, name: string): string =>
  plainText(given.slice(0, longestTitle)) || name.charAt(0).toUpperCase() + name.slice(1).toLowerCase()

/** What a page is about, without the marks of the box that it begins with. */
export const describe = ({ description }: { readonly description: string }): string =>
  description.replace(/^(?::{3,}\s*[\w-]*|\[![A-Za-z]+\])\s*/, "").replace(/\s*:{3,}$/, "")

/** Teaches a parser these boxes; headings in them stay sections of the page. */
export const addBoxes = (parser: Parser): void => {
  parser.block.ruler.before(
    "fence",
    "box",
    (state, startLine, endLine, silent) => {
      const textOf = (line: number): string =>
        state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]).trimEnd()
      const [, name, title = ""] = opening.exec(textOf(startLine)) ?? []
      if (name === undefined) return false
      if (silent) return true
      // A box that is never closed ends with the list or quotation around it.
      let end = startLine + 1
      const isOutside = (line: number): boolean => !state.isEmpty(line) && (state.sCount[line] ?? 0) < state.blkIndent
      while (end < endLine && !closing.test(textOf(end)) && !isOutside(end)) end++
      const box = state.push("box_open", "div", 1)
      Object.assign(box, { info: name.toLowerCase(), content: titleOf(title, name), map: [startLine, end] })
      const { lineMax } = state
      state.lineMax = end
      state.md.block.tokenize(state, startLine + 1, end)
      state.lineMax = lineMax
      state.push("box_close", "div", -1)
      state.line = end < endLine && closing.test(textOf(end)) ? end + 1 : end
      return true
    },
    { alt: ["paragraph", "reference", "blockquote", "list"] },
  )
  // A quotation that begins with `[!NOTE]` is a note.
  parser.core.ruler.after("block", "alerts", ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      const text = tokens[index + 2]
      if (token.type !== "blockquote_open" || text?.type !== "inline") continue
      const [marked = "", name = "", title = ""] = alert.exec(text.content) ?? []
      if (marked === "") continue
      Object.assign(token, { info: name.toLowerCase(), content: titleOf(title, name) })
      text.content = text.content.slice(marked.length)
      for (const around of [tokens[index + 1], tokens[index + 3]])
        if (around !== undefined && text.content === "") around.hidden = true
    }
  })
  const { rules } = parser.renderer
  rules["box_open"] = rules["blockquote_open"] = (tokens, index) => {
    const { info = "", content = "", tag = "" } = tokens[index] ?? {}
    if (info === "") return `<${tag}>\n`
    if (info === "code-group") return '<div class="group">\n'
    const title = `<p class="title">${parser.utils.escapeHtml(content)}</p>`
    return `<${tag} class="${`note ${looks[info] ?? ""}`.trim()}">${title}\n`
  }
}
