import MiniSearch from "minisearch"
import type { Corpus, Page } from "./corpus.ts"
import { type Passage, createPassageFinder } from "./passages.ts"
import { phraseCounter } from "./phrases.ts"
import { terms, words } from "./words.ts"

type Hit = Passage & { readonly page: Page; readonly score: number }

type Answer = {
  readonly hits: readonly Hit[]
  /** Pages that match, those outside `hits` included. */
  readonly total: number
  /** The query with each word that no page has replaced by the nearest that one has. */
  readonly corrected?: string
  /** False when the query has stop words alone. */
  readonly searchable: boolean
}

export type Search = (query: string, offset: number, limit: number) => Answer

type Document = { id: number; title: string; slug: string; headings: string; description: string; body: string }

// Found by trying combinations on two sets of questions; the order of pages changes little around them.
const boost = { title: 6, slug: 2, headings: 3, description: 1.5 }
const phraseWeight = 1
const reranked = 20

const documentOf = (page: Page, id: number): Document => ({
  id,
  title: page.title,
  slug: page.slug.replaceAll("/", " "),
  headings: page.sections.map((section) => section.heading).join("\n"),
  description: page.description,
  body: page.markdown.slice(page.bodyStart),
})

/** What the index knows about a term: how many pages have it, and how it is written. */
type Entry = { pages: number; spelling: string }

const buildIndex = (pages: readonly Page[]) => {
  const vocabulary = new Map<string, Entry>()
  let seen = new Set<string>()
  const index = new MiniSearch<Document>({
    fields: ["title", "slug", "headings", "description", "body"],
    tokenize: (text) => words(text).map((word) => word.text),
    processTerm: (word) => {
      const found = terms(word)
      for (const term of found) {
        if (seen.has(term)) continue
        seen.add(term)
        const entry = vocabulary.get(term)
        if (entry === undefined)
          vocabulary.set(term, { pages: 1, spelling: found.length === 1 ? word.toLowerCase() : term })
        else entry.pages++
      }
      return found.length === 0 ? null : [...found]
    },
  })
  for (const [id, page] of pages.entries()) {
    seen = new Set()
    index.add(documentOf(page, id))
  }
  return { index, vocabulary }
}

/** Edit distance, transpositions counted once; stops looking past `limit`. */
const distance = (a: string, b: string, limit: number): number => {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1)
      next.push(cost)
    }
    before = row
    row = next
  }
  return row[b.length] ?? limit + 1
}

const allowedEdits = (term: string): number => (term.length < 4 ? 0 : term.length < 8 ? 1 : 2)

/** Indexes the pages. An answer ranks pages first and then names the section of each that fits best. */
export const createSearch = (corpus: Corpus): Search => {
  const pages = [...corpus.pages.values()]
  const { index, vocabulary } = buildIndex(pages)
  const lowered = pages.map((page) => page.markdown.toLowerCase())
  const findPassage = createPassageFinder((term) => Math.log(1 + pages.length / (vocabulary.get(term)?.pages ?? 1)))

  return (query, offset, limit) => {
    const asked = words(query)
      .map(({ text, start }) => ({ text, start, terms: terms(text) }))
      .filter((word) => word.terms.length > 0)
    const weights = new Map<string, number>()
    const unknown: typeof asked = []
    for (const word of asked) {
      const known = word.terms.filter((term) => vocabulary.has(term))
      if (known.length === 0) unknown.push(word)
      // An identifier that some page has is meant as a whole; its parts only break ties.
      const whole = word.terms.length > 1 && known[0] === word.terms[0]
      for (const term of known.length === 0 ? word.terms : known)
        weights.set(term, Math.max(weights.get(term) ?? 0, whole && term !== known[0] ? 0.2 : 1))
    }
    const lookUp = [...weights.keys()]
    const found = index.search(lookUp.join(" "), {
      tokenize: () => lookUp,
      processTerm: (term) => term,
      boost,
      boostTerm: (term) => weights.get(term) ?? 1,
      fuzzy: (term) => (vocabulary.has(term) ? false : allowedEdits(term)),
      prefix: (term) => !vocabulary.has(term) && term.length >= 3,
    })
    const phrases = phraseCounter(asked)
    const top = found
      .slice(0, reranked)
      .map(({ id, match, score }) => ({
        id,
        match,
        score: score * (1 + phraseWeight * phrases(lowered[Number(id)] ?? "")),
      }))
      .sort((a, b) => b.score - a.score)
    const ranked = [...top, ...found.slice(reranked)]
    const hits = ranked.slice(offset, offset + limit).flatMap((result) => {
      const page = pages[Number(result.id)]
      return page === undefined ? [] : [{ page, score: result.score, ...findPassage(page, Object.keys(result.match)) }]
    })

    let corrected = query
    for (const word of unknown.toReversed()) {
      const [term = ""] = word.terms
      const edits = allowedEdits(term)
      const near = [...new Set(found.flatMap((result) => Object.keys(result.match)))]
        .filter((candidate) => !weights.has(candidate))
        .map((candidate) => ({ candidate, far: distance(term, candidate, edits) }))
        .filter(({ far }) => far <= edits)
        .sort(
          (a, b) =>
            a.far - b.far || (vocabulary.get(b.candidate)?.pages ?? 0) - (vocabulary.get(a.candidate)?.pages ?? 0),
        )[0]
      if (near === undefined) continue
      const spelling = vocabulary.get(near.candidate)?.spelling ?? near.candidate
      corrected = corrected.slice(0, word.start) + spelling + corrected.slice(word.start + word.text.length)
    }
    return {
      hits,
      total: found.length,
      ...(corrected !== query && { corrected }),
      searchable: asked.length > 0,
    }
  }
}
