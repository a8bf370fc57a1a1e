import type { Page } from "./corpus.ts"
import { type Section, plainText } from "./markdown.ts"
import { terms, words } from "./words.ts"

/** A heading with the text down to the next one; `section` is undefined for text above the first heading. */
export type Part = { readonly section: Section | undefined; readonly start: number; readonly end: number }

/** The page cut at its headings. */
export const partsOf = ({ sections, markdown, bodyStart }: Page): Part[] => [
  { section: undefined, start: bodyStart, end: sections[0]?.start ?? markdown.length },
  ...sections.map((section, i) => ({ section, start: section.start, end: sections[i + 1]?.start ?? markdown.length })),
]

const snippetLength = 240

/** Paragraphs, and the single lines of tables and lists: what a reader would point at. */
const passagesOf = (text: string): string[] =>
  text
    .split(/\n[ \t]*\r?\n/)
    .flatMap((block) => (/^\s*(?:\||[-*+] |\d+[.)] )/.test(block) ? block.split("\n") : [block]))
    .filter((passage) => /[\p{L}\p{N}]/u.test(passage) && !/^\s*(?:#{1,6} |```|~~~|:::)[^\n]*$/.test(passage))

const shorten = (text: string, wanted: (term: string) => boolean): string => {
  const plain = plainText(
    text.replace(/^#{1,6} [^\n]*\n|^[ \t]*(?:```|~~~|:::)[^\n]*$/gm, "").replace(/^\s*[|>]\s*|\s*\|\s*$/g, ""),
  )
  if (plain.length <= snippetLength) return plain
  const first = words(plain).find((word) => terms(word.text).some(wanted))?.start ?? 0
  const from = Math.max(0, Math.min(first - 60, plain.length - snippetLength))
  // Cut at spaces; a text without any is cut where it must.
  const start = from === 0 ? 0 : plain.slice(from, from + 30).search(/\s/) + 1 + from
  const cut = plain.slice(start, start + snippetLength)
  const end = start + snippetLength >= plain.length ? cut : cut.replace(/\s\S*$/, "")
  return `${start > 0 ? "…" : ""}${end}${start + snippetLength < plain.length ? "…" : ""}`
}

/** The few lines of a text that have most of the wanted terms, rare ones counting more. */
export const snippetOf = (text: string, weights: ReadonlyMap<string, number>): string | undefined => {
  let best: string | undefined
  let bestScore = -1
  for (const passage of passagesOf(text)) {
    const found = new Set(words(passage).flatMap((word) => terms(word.text)))
    let score = 0
    for (const [term, weight] of weights) if (found.has(term)) score += weight
    if (score > bestScore) [best, bestScore] = [passage, score]
  }
  return best === undefined ? undefined : shorten(best, (term) => weights.has(term))
}
