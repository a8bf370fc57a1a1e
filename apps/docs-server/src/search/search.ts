// Words that the search's files use:
// - term: a word as it is looked up, stemmed and folded; a number in the index
// - position: a place in the sequence of all pages' terms
// - posting: one term on one page, with its worth there and its positions
// - section: a heading with the text down to the next heading; a page's first has none
// - passage: what a snippet is made of: a paragraph, a row, an item, a block of code
// - match: a position that has a term of the query
// - share: how much of the query a term is, by its rarity; all shares together are 1
//
// text.ts reads pages as terms, word-index.ts weighs them, query.ts reads a query and corrects it, names.ts finds the pages
// that it names, ranking.ts ranks pages, matches.ts and reading.ts choose the section and the passage to show.
import type { Section } from "@svc/site"
import { LRUCache } from "lru-cache"
import type { Corpus, Page } from "../corpus/corpus.ts"
import { createNames } from "./names.ts"
import {
  findWanted,
  isShort,
  partToRead,
  type PassageKind,
  passageKinds,
  plainOf,
  shorten,
  snippetOf,
  withColumnNames,
} from "./passages.ts"
import { createQueryReader } from "./query.ts"
import { createRanking } from "./ranking.ts"
import { fieldNames, readTexts } from "./text.ts"
import { eachWord, type Word } from "./words.ts"
import { createVocabulary, type Vocabulary } from "./vocabulary.ts"
import { buildIndex } from "./word-index.ts"

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
  /** The query with each unknown word replaced by the nearest known one. */
  readonly corrected?: string
  /** False if the query has only stop words. */
  readonly searchable: boolean
}

export type Search = (query: string, offset: number, limit: number) => Answer

/** A passage as it is shown, and the words of one that is too long for that, with the numbers of their terms. */
type Plain = { readonly plain: string; readonly words: readonly (Word & { readonly numbers: readonly number[] })[] }

// The most rows and items after a passage that are searched for a word of the query.
const mostFollowing = 40

/** Indexes the pages. A search ranks pages first and then names the section of each that fits best. */
export const createSearch = (corpus: Corpus): Search => {
  const pages = [...corpus.pages.values()]
  const texts = readTexts(pages)
  const weights = pages.map(({ searchWeight = 1 }) => searchWeight)
  const index = buildIndex(texts, weights)
  let vocabulary: Vocabulary | undefined
  // Built when a query first has an unknown word, so that it doesn't delay the start.
  const readQuery = createQueryReader(texts.numberOf, () => (vocabulary ??= createVocabulary(texts.written)))
  const namedBy = createNames(pages)
  const rank = createRanking(texts, index, weights)

  /** Passages without markup. Making one takes longer than choosing it. */
  const plainTexts = new LRUCache<number, Plain>({ max: 4096 })
  const plainFor = (part: string, kind: PassageKind): Plain => {
    const plain = plainOf(part, kind)
    const words = isShort(plain) ? [] : [...eachWord(plain)]
    return {
      plain,
      words: words.map(({ text, start }) => ({ text, start, numbers: texts.written.get(text)?.numbers ?? [] })),
    }
  }

  const snippetFor = (id: number, page: Page, passage: number, terms: ReadonlySet<number>): string => {
    const asksFor = (numbers: readonly number[]): boolean => numbers.some((term) => terms.has(term))
    const isWanted = (word: string): boolean => asksFor(texts.written.get(word)?.numbers ?? [])
    const endOfPage = texts.sectionPassages[texts.pageSections[id + 1] ?? 0] ?? 0
    const textOf = (one: number): string =>
      page.markdown.slice(texts.passageStarts[one], one + 1 < endOfPage ? texts.passageStarts[one + 1] : undefined)
    const kindOf = (one: number): PassageKind => passageKinds[texts.passageKindsOf[one] ?? 0] ?? "prose"
    const hasTerm = (one: number): boolean => {
      const end = one + 1 < endOfPage ? texts.passageTerms[one + 1] : texts.fieldStarts[(id + 1) * fieldNames.length]
      return texts.numbers.subarray(texts.passageTerms[one], end).some((term) => terms.has(term))
    }
    /** A row with the names of its columns, which are above the rule before the first row. */
    const rowOf = (one: number): string => {
      let rule = one
      while (kindOf(rule) === "row") rule--
      return kindOf(rule) === "mark" && kindOf(rule - 1) === "mark"
        ? withColumnNames(textOf(one), textOf(rule - 1))
        : textOf(one)
    }
    const show = (one: number): string => {
      let read = plainTexts.get(one)
      if (read === undefined) {
        const text = kindOf(one) === "row" ? rowOf(one) : textOf(one)
        const part = partToRead(text, isWanted)
        read = plainFor(part, kindOf(one))
        if (part === text) plainTexts.set(one, read)
      }
      const wanted = read.words.filter(({ numbers }) => asksFor(numbers))
      return snippetOf(read.plain, wanted)
    }
    const snippet = show(passage)
    // After a colon comes the answer: the first row or item that has a word of the query, else the first one.
    const lead = snippet.length < 120 ? snippet : snippet.slice(snippet.lastIndexOf(". ") + 1).trim()
    if (!lead.endsWith(":") || findWanted(lead, isWanted) === undefined) return snippet
    const following: number[] = []
    for (let one = passage + 1; one < endOfPage && /^(?:mark|row|item|code)$/.test(kindOf(one)); one++)
      if (kindOf(one) !== "mark") following.push(one)
    const next = following.slice(0, mostFollowing).find(hasTerm) ?? following[0]
    return next === undefined ? snippet : shorten(`${lead} ${show(next)}`)
  }

  return (text, offset, limit) => {
    const query = readQuery(text)
    const named = namedBy(text)
    const wanted = query.firstAlike.map(
      (first, n) => (query.weights[n] ?? 0) * (index.rarity[query.terms[first] ?? 0] ?? 0),
    )
    const sum = wanted.reduce((all, weight, n) => (query.firstAlike[n] === n ? all + weight : all), 0)
    const shares = wanted.map((weight) => weight / sum)
    const { ranked, readingOf } = rank(query, shares, named)
    const terms = new Set(query.terms)
    const toHit = ([id, score]: readonly [number, number]): Hit[] => {
      const page = pages[id]
      if (page === undefined) return []
      // A query that names a page means the whole page.
      if (named.has(id)) return [{ page, score, section: page.sections[0], snippet: page.description }]
      const { section, passage } = readingOf(id)
      const snippet = passage === undefined ? page.description : snippetFor(id, page, passage, terms)
      return [{ page, score, section: page.sections[section - 1], snippet }]
    }
    return {
      hits: ranked.slice(offset, offset + limit).flatMap(toHit),
      total: ranked.length,
      ...(query.corrected !== text && named.size === 0 && { corrected: query.corrected }),
      searchable: query.searchable || named.size > 0,
    }
  }
}
