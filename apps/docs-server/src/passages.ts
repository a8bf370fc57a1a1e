import type { Page } from "./corpus.ts"
import { type Section, plainText } from "./markdown.ts"
import { terms, words } from "./words.ts"

/** The part of a page that answers a query best. */
export type Passage = {
  /** Undefined for text above the first heading. */
  readonly section: Section | undefined
  readonly snippet: string
}

type Counts = ReadonlyMap<string, number>

type Part = {
  readonly section: Section | undefined
  readonly text: string
  readonly counts: Counts
  readonly heading: Counts
}

const snippetLength = 240
const keptPages = 256

const count = (text: string): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const word of words(text)) for (const term of terms(word.text)) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

// The page's own title says nothing about which of its sections fits.
const headingOf = (section: Section | undefined): string =>
  section === undefined || section.level === 1 ? "" : section.heading

/** The page cut at its headings: each part is a heading with the text down to the next one. */
const partsOf = (page: Page): Part[] => {
  const { sections, markdown } = page
  const ranges = sections.map((section, i) => ({
    section,
    start: section.start,
    end: sections[i + 1]?.start ?? markdown.length,
  }))
  const top = { section: undefined, start: page.bodyStart, end: sections[0]?.start ?? markdown.length }
  return [top, ...ranges].map(({ section, start, end }) => {
    const text = markdown.slice(start, end)
    return { section, text, counts: count(text), heading: count(headingOf(section)) }
  })
}

/** Paragraphs, and the single lines of tables and lists: what a reader would point at. */
const passagesOf = (text: string): string[] =>
  text
    .split(/\n[ \t]*\r?\n/)
    .flatMap((block) => (/^\s*(?:\||[-*+] |\d+[.)] )/.test(block) ? block.split("\n") : [block]))
    .filter((passage) => /[\p{L}\p{N}]/u.test(passage) && !/^\s*(?:#{1,6} |```|~~~|:::)[^\n]*$/.test(passage))

const shorten = (text: string, wanted: ReadonlySet<string>): string => {
  const plain = plainText(
    text.replace(/^#{1,6} [^\n]*\n|^[ \t]*(?:```|~~~|:::)[^\n]*$/gm, "").replace(/^\s*[|>]\s*|\s*\|\s*$/g, ""),
  )
  if (plain.length <= snippetLength) return plain
  const first = words(plain).find((word) => terms(word.text).some((term) => wanted.has(term)))?.start ?? 0
  const from = Math.max(0, Math.min(first - 60, plain.length - snippetLength))
  // Cut at spaces; a text without any is cut where it must.
  const start = from === 0 ? 0 : plain.slice(from, from + 30).search(/\s/) + 1 + from
  const cut = plain.slice(start, start + snippetLength)
  const end = start + snippetLength >= plain.length ? cut : cut.replace(/\s\S*$/, "")
  return `${start > 0 ? "…" : ""}${end}${start + snippetLength < plain.length ? "…" : ""}`
}

/** Finds the part of a page that has most of the terms, rare ones counting more. Keeps the last pages' word counts. */
export const createPassageFinder = (weight: (term: string) => number) => {
  const kept = new Map<Page, Part[]>()
  return (page: Page, matched: readonly string[]): Passage => {
    const parts = kept.get(page) ?? partsOf(page)
    kept.delete(page)
    kept.set(page, parts)
    for (const [oldest] of kept) if (kept.size > keptPages) kept.delete(oldest)

    const wanted = new Set(matched)
    const score = (counts: Counts): number =>
      matched.reduce((sum, term) => {
        const times = counts.get(term) ?? 0
        return sum + (weight(term) * times) / (times + 1)
      }, 0)
    let best: Part | undefined
    let bestScore = -1
    for (const part of parts) {
      const total = score(part.counts) + score(part.heading)
      if (total > bestScore && (part.section !== undefined || part.text.trim() !== ""))
        [best, bestScore] = [part, total]
    }
    const passages = passagesOf(best?.text ?? "").map((text) => ({ text, score: score(count(text)) }))
    const passage = passages.reduce(
      (a, b) => (b.score > a.score ? b : a),
      passages[0] ?? { text: page.description, score: 0 },
    )
    return { section: best?.section, snippet: shorten(passage.text, wanted) }
  }
}
