import MiniSearch from "minisearch"
import type { Page } from "./corpus.ts"
import { type Part, partsOf } from "./passages.ts"
import { createVocabulary } from "./vocabulary.ts"
import { terms, words } from "./words.ts"

type Document = { id: number; title: string; slug: string; headings: string; description: string; body: string }

/** A part of a page with the terms of its text and of its heading, by number, in the order of the text. */
export type IndexedPart = Part & { readonly terms: Uint32Array; readonly headingTerms: Uint32Array }

/** What is known about a term: its number, how many pages have it, and the page that was counted last. */
type Term = { readonly number: number; pages: number; lastPage: number }

const documentOf = (page: Page, id: number): Document => ({
  id,
  title: page.title,
  slug: page.slug.replaceAll("/", " "),
  headings: page.sections.map((section) => section.heading).join("\n"),
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
  const numbersOf = (texts: readonly string[]): Uint32Array =>
    Uint32Array.from(texts.flatMap((text) => termsOf(text).map((term) => byTerm.get(term)?.number ?? 0)))

  let bodyWords: string[] = []
  const index = new MiniSearch<Document>({
    fields: ["title", "slug", "headings", "description", "body"],
    // The body has been cut in words before, part by part.
    tokenize: (text, field) => (field === "body" ? bodyWords : wordsOf(text)),
    processTerm: (word) => {
      const found = termsOf(word)
      for (const term of found) {
        const entry = byTerm.get(term)
        if (entry === undefined || entry.lastPage === parts.length) continue
        entry.lastPage = parts.length
        entry.pages++
      }
      return found.length === 0 ? null : found
    },
  })
  for (const [id, page] of pages.entries()) {
    const cut = partsOf(page).map((part) => ({ part, own: wordsOf(page.markdown.slice(part.start, part.end)) }))
    bodyWords = cut.flatMap(({ own }) => own)
    index.add(documentOf(page, id))
    parts.push(
      cut.map(({ part: { section, start, end }, own }) => {
        // The page's own title says nothing about which of its sections fits.
        const heading = section === undefined || section.level === 1 ? "" : section.heading
        return { section, start, end, terms: numbersOf(own), headingTerms: numbersOf(wordsOf(heading)) }
      }),
    )
  }
  return { index, vocabulary, byTerm, parts }
}

const wordsOf = (text: string): string[] => words(text).map((word) => word.text)
