import type { Page } from "./corpus.ts"
import { type Section, plainText } from "./markdown.ts"
import { terms, words } from "./words.ts"

/** A heading with the text down to the next one; `section` is undefined for text above the first heading. */
type Part = { readonly section: Section | undefined; readonly start: number; readonly end: number }

/** The page cut at its headings. */
export const partsOf = ({ sections, markdown, bodyStart }: Page): Part[] => [
  { section: undefined, start: bodyStart, end: sections[0]?.start ?? markdown.length },
  ...sections.map((section, i) => ({ section, start: section.start, end: sections[i + 1]?.start ?? markdown.length })),
]

/** Cuts text in what a reader would point at: paragraphs, and the single lines of tables and lists. Loses nothing. */
export const passagesOf = (text: string): string[] =>
  text
    .split(/(?<=\n[ \t]*\r?\n)/)
    .flatMap((block) => (/^\s*(?:\||[-*+] |\d+[.)] )/.test(block) ? block.split(/(?<=\n)/) : [block]))

/** Whether a passage says something by itself: a heading or the mark of a fence does not. */
export const isTelling = (passage: string): boolean =>
  /[\p{L}\p{N}]/u.test(passage) && !/^(?:#{1,6} |```|~~~|:::)[^\n]*$/.test(passage.trim())

const snippetLength = 240
// How much of a long passage is read as Markdown, from a little before the first wanted term.
const readLength = 3000
const readBefore = 500

const firstWanted = (text: string, isWanted: (term: string) => boolean): number =>
  words(text).find((word) => terms(word.text).some(isWanted))?.start ?? 0

/** Without the bars and marks at the ends of a table's row or a quote's line. */
const withoutEdges = (text: string): string => {
  const inner = text.trim().replace(/^[|>]/, "")
  return inner.endsWith("|") ? inner.slice(0, -1) : inner
}

/** A passage as plain text, cut around the first wanted term when it is long. */
export const snippetOf = (passage: string, isWanted: (term: string) => boolean): string => {
  const whole = passage.replace(/^#{1,6} [^\n]*\n|^[ \t]*(?:```|~~~|:::)[^\n]*$/gm, "")
  const skipped = whole.length <= readLength ? 0 : Math.max(0, firstWanted(whole, isWanted) - readBefore)
  const text = whole.slice(skipped, skipped + readLength)
  // In code nothing is a mark or a tag: a placeholder such as <API_KEY> has to stay.
  const plain = /^[ \t]*(?:```|~~~)/m.test(passage) ? text.replace(/\s+/g, " ").trim() : plainText(withoutEdges(text))
  if (plain.length <= snippetLength) return plain
  const first = firstWanted(plain, isWanted)
  const from = Math.max(0, Math.min(first - 60, plain.length - snippetLength))
  // Cut at spaces; a text without any is cut where it must.
  const start = from === 0 ? 0 : plain.slice(from, from + 30).search(/\s/) + 1 + from
  const cut = plain.slice(start, start + snippetLength)
  const end = start + snippetLength >= plain.length ? cut : cut.replace(/\s\S*$/, "")
  return `${start > 0 ? "…" : ""}${end}${start + snippetLength < plain.length ? "…" : ""}`
}
