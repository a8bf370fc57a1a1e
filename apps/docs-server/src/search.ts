import type { Corpus, Page } from "./corpus.ts"
import { snippetOf } from "./passages.ts"
import type { Section } from "./markdown.ts"
import { type IndexedPart, buildIndex } from "./search-index.ts"
import { type Word, terms, words } from "./words.ts"

type Hit = {
  readonly page: Page
  readonly score: number
  /** The section that fits best; undefined for text above the first heading. */
  readonly section: Section | undefined
  readonly snippet: string
}

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

// Found by trying combinations on two sets of questions; the order of pages changes little around them.
const boost = { title: 6, slug: 2, headings: 3, names: 8, description: 1.5 }
const phraseWeight = 1
const reranked = 20
const partWeight = 0.2
const nearWeight = 0.6
// Each is a walk through all words: a query of nonsense must not cost seconds.
const mostCorrections = 4

/** How much of the wanted terms stands in a text; each further time counts less. */
const density = (numbers: Uint32Array, weights: ReadonlyMap<number, number>): number => {
  const times = new Map<number, number>()
  for (const number of numbers) if (weights.has(number)) times.set(number, (times.get(number) ?? 0) + 1)
  let sum = 0
  for (const [number, count] of times) sum += ((weights.get(number) ?? 0) * count) / (count + 1)
  return sum
}

/** Where the passage with most of the wanted terms stands in the page. */
const bestPassage = (
  { terms: numbers, passages }: IndexedPart,
  weights: ReadonlyMap<number, number>,
): [number, number] => {
  let best: [number, number] = [0, 0]
  let bestScore = -1
  for (let i = 0; i + 3 < passages.length; i += 4) {
    const found = new Set(numbers.subarray(passages[i + 2], passages[i + 3]))
    let score = 0
    for (const [number, weight] of weights) if (found.has(number)) score += weight
    if (score > bestScore) [best, bestScore] = [[passages[i] ?? 0, passages[i + 1] ?? 0], score]
  }
  return best
}

/**
 * How many neighbours of a query stand side by side in a page too, in any inflection and with stop words between them:
 * counting words alone does not see that "path parameter" is one thing.
 */
const phrases = (parts: readonly IndexedPart[], pairs: ReadonlyMap<number, ReadonlySet<number>>): number => {
  let wanted = 0
  for (const next of pairs.values()) wanted += next.size
  if (wanted === 0) return 0
  const found = new Set<string>()
  for (const { terms: numbers } of parts)
    for (let i = 0; i < numbers.length - 1; i++) {
      const first = numbers[i] ?? -1
      const second = numbers[i + 1] ?? -1
      if (pairs.get(first)?.has(second) === true) found.add(`${first} ${second}`)
    }
  return found.size / Math.sqrt(wanted)
}

type Asked = Word & { readonly terms: readonly string[] }

/** Indexes the pages. An answer ranks pages first and then names the section of each that fits best. */
export const createSearch = (corpus: Corpus): Search => {
  const pages = [...corpus.pages.values()]
  const { index, vocabulary, byTerm, parts } = buildIndex(pages)
  const isKnown = (term: string): boolean => byTerm.has(term)
  const commonness = (word: string): number => Math.min(...terms(word).map((term) => byTerm.get(term)?.pages ?? 0))

  const findPassage = (id: number, page: Page, matched: readonly string[]): Pick<Hit, "section" | "snippet"> => {
    const weights = new Map<string, number>()
    const byNumber = new Map<number, number>()
    for (const term of matched) {
      const entry = byTerm.get(term)
      if (entry === undefined) continue
      const weight = Math.log(1 + pages.length / entry.pages)
      weights.set(term, weight)
      byNumber.set(entry.number, weight)
    }
    let best: IndexedPart | undefined
    let bestScore = -1
    for (const part of parts[id] ?? []) {
      const score = density(part.terms, byNumber) + density(part.headingTerms, byNumber)
      if (score > bestScore && (part.section !== undefined || part.terms.length > 0)) [best, bestScore] = [part, score]
    }
    const [start, end] = best === undefined ? [0, 0] : bestPassage(best, byNumber)
    const snippet =
      start === end ? page.description : snippetOf(page.markdown.slice(start, end), (term) => weights.has(term))
    return { section: best?.section, snippet }
  }

  /** Each word of the query by the number of its term, with the numbers of those that stand right behind it. */
  const neighbours = (asked: readonly Asked[]): ReadonlyMap<number, ReadonlySet<number>> => {
    const pairs = new Map<number, Set<number>>()
    const numbers = asked.map((word) => byTerm.get(word.terms[0] ?? "")?.number)
    for (const [i, number] of numbers.entries()) {
      const next = numbers[i + 1]
      if (number !== undefined && next !== undefined) pairs.set(number, (pairs.get(number) ?? new Set()).add(next))
    }
    return pairs
  }

  /** The terms to look up and what each counts, and the query with its unknown words corrected. */
  const readQuery = (query: string, asked: readonly Asked[]) => {
    const weights = new Map<string, number>()
    const weigh = (term: string, weight: number) => weights.set(term, Math.max(weights.get(term) ?? 0, weight))
    const corrections: { readonly word: Asked; readonly near: string }[] = []
    for (const word of asked) {
      const [whole = "", ...pieces] = word.terms
      const known = isKnown(whole)
      // An identifier that some page has is meant as a whole; its parts only break ties.
      for (const part of pieces) if (isKnown(part)) weigh(part, known ? partWeight : 1)
      if (known) weigh(whole, 1)
      else if (corrections.length < mostCorrections) {
        const near = vocabulary.nearest(word.text.toLowerCase(), commonness)
        if (near === undefined) weigh(whole, nearWeight)
        else {
          corrections.push({ word, near })
          for (const term of terms(near)) weigh(term, nearWeight)
        }
      }
    }
    let corrected = query
    for (const { word, near } of corrections.toReversed())
      corrected = corrected.slice(0, word.start) + near + corrected.slice(word.start + word.text.length)
    return { weights, corrected }
  }

  return (query, offset, limit) => {
    const asked = words(query)
      .map(({ text, start }) => ({ text, start, terms: terms(text) }))
      .filter((word) => word.terms.length > 0)
    const { weights, corrected } = readQuery(query, asked)
    const lookUp = [...weights.keys()]
    const found = index.search(lookUp.join(" "), {
      tokenize: () => lookUp,
      processTerm: (term) => term,
      boost,
      boostTerm: (term) => weights.get(term) ?? 1,
      // Only a word that no page has, and that is like none, may be the start of one.
      prefix: (term) => !isKnown(term) && term.length >= 3,
    })
    const pairs = neighbours(asked)
    const top = found
      .slice(0, reranked)
      .map(({ id, match, score }) => ({
        id,
        match,
        score: score * (1 + phraseWeight * phrases(parts[Number(id)] ?? [], pairs)),
      }))
      .sort((a, b) => b.score - a.score)
    const ranked = [...top, ...found.slice(reranked)]
    const hits = ranked.slice(offset, offset + limit).flatMap(({ id, match, score }) => {
      const page = pages[Number(id)]
      return page === undefined ? [] : [{ page, score, ...findPassage(Number(id), page, Object.keys(match)) }]
    })
    return { hits, total: found.length, ...(corrected !== query && { corrected }), searchable: asked.length > 0 }
  }
}
