import MiniSearch from "minisearch"
import type { Page } from "./corpus.ts"
import type { Section } from "./markdown.ts"
import { isTelling, partsOf, passagesOf } from "./passages.ts"
import { createVocabulary } from "./vocabulary.ts"
import { terms, words } from "./words.ts"

type Document = {
  id: number
  title: string
  slug: string
  headings: string
  names: string
  description: string
  body: string
}

/** The text from one heading to the next, with the numbers of its terms in the order of the text. */
export type IndexedPart = {
  readonly section: Section | undefined
  readonly terms: Uint32Array
  readonly headingTerms: Uint32Array
  /** Four numbers a passage: its first character in the page, its end, its first place in `terms`, its end there. */
  readonly passages: Uint32Array
}

/** What is known about a term: its number, how many pages have it, and the page that was counted last. */
type Term = { readonly number: number; pages: number; lastPage: number }

// A term that stands on a page more often than this counts as this often: half the time to start goes into repetitions.
const mostTimes = 3

/** What a page explains row by row: error codes, variables, fields that stand as inline code in a table's first cell. */
const namesIn = (markdown: string): string =>
  [...markdown.matchAll(/^[ \t]*\|[ \t]*`([^`\n]+)`[ \t]*\|/gm)].map(([, name = ""]) => name).join("\n")

const documentOf = (page: Page, id: number): Document => ({
  id,
  title: page.title,
  slug: page.slug.replaceAll("/", " "),
  headings: page.sections.map((section) => section.heading).join("\n"),
  names: namesIn(page.markdown.slice(page.bodyStart)),
  description: page.description,
  body: page.markdown.slice(page.bodyStart),
})

/** Reads every page once: into the index by page, and into lists of terms by part. */
export const buildIndex = (pages: readonly Page[]) => {
  const vocabulary = createVocabulary()
  const known = new Map<string, string[]>()
  const byTerm = new Map<string, Term>()
  const parts: IndexedPart[][] = []

  const termsOf = (word: string): string[] => {
    let found = known.get(word)
    if (found === undefined) {
      known.set(word, (found = [...terms(word)]))
      if (found.length > 0) vocabulary.add(word.toLowerCase())
      for (const term of found) if (!byTerm.has(term)) byTerm.set(term, { number: byTerm.size, pages: 0, lastPage: -1 })
    }
    return found
  }
  const count = (term: string): number => {
    const entry = byTerm.get(term)
    if (entry === undefined) return 0
    if (entry.lastPage !== parts.length) entry.pages++
    entry.lastPage = parts.length
    return entry.number
  }

  let bodyTerms: string[] = []
  const index = new MiniSearch<Document>({
    fields: ["title", "slug", "headings", "names", "description", "body"],
    // The body has been cut in words and terms before, part by part.
    tokenize: (text, field) => (field === "body" ? bodyTerms : wordsOf(text)),
    processTerm: (word, field) => {
      if (field === "body") return word
      const found = termsOf(word)
      for (const term of found) count(term)
      // As names count whole identifiers alone: their parts, and names of one word, are words of every text.
      if (field === "names") return found.length > 1 ? (found[0] ?? null) : null
      return found.length === 0 ? null : found
    },
  })
  for (const [id, page] of pages.entries()) {
    bodyTerms = []
    const times = new Map<number, number>()
    const indexed = partsOf(page).map(({ section, start, end }): IndexedPart => {
      const numbers: number[] = []
      const passages: number[] = []
      let at = start
      for (const passage of passagesOf(page.markdown.slice(start, end))) {
        const from = numbers.length
        for (const word of wordsOf(passage))
          for (const term of termsOf(word)) {
            const number = count(term)
            numbers.push(number)
            const time = (times.get(number) ?? 0) + 1
            times.set(number, time)
            if (time <= mostTimes) bodyTerms.push(term)
          }
        if (isTelling(passage)) passages.push(at, at + passage.length, from, numbers.length)
        at += passage.length
      }
      // The page's own title says nothing about which of its sections fits.
      const heading = section === undefined || section.level === 1 ? "" : section.heading
      return {
        section,
        terms: Uint32Array.from(numbers),
        headingTerms: Uint32Array.from(wordsOf(heading).flatMap((word) => termsOf(word).map(count))),
        passages: Uint32Array.from(passages),
      }
    })
    index.add(documentOf(page, id))
    parts.push(indexed)
  }
  // The index keeps the functions above, and they this.
  known.clear()
  return { index, vocabulary, byTerm, parts }
}

const wordsOf = (text: string): string[] => words(text).map((word) => word.text)
