import { createMemo } from "@svc/memo"
import type { Corpus, Page } from "./corpus.ts"
import type { Section } from "./markdown.ts"
import { createSnippets, passageKinds } from "./passages.ts"
import { buildIndex } from "./search-index.ts"
import { type Asked, createQuestions } from "./search-query.ts"
import { createFit } from "./search-fit.ts"
import { type Place, createPlaces } from "./search-place.ts"
import { createReaders } from "./search-reader.ts"
import { readTexts } from "./search-text.ts"
import { bonus, cut, mostRead } from "./search-weights.ts"
import { createVocabulary } from "./vocabulary.ts"

type Hit = {
  readonly page: Page
  readonly score: number
  /** The section that fits best; undefined for text above the first heading. */
  readonly section: Section | undefined
  readonly snippet: string
}

type Found = {
  readonly hits: readonly Hit[]
  /** Pages that match, those outside `hits` included. */
  readonly total: number
}

type Answer = Found & {
  /** The query with each word that no page has replaced by the nearest that one has. */
  readonly corrected?: string
  /** False when the query has stop words alone. */
  readonly searchable: boolean
}

export type Search = (query: string, offset: number, limit: number) => Answer

/** Indexes the pages. An answer ranks pages first and then names the section of each that fits best. */
export const createSearch = (corpus: Corpus): Search => {
  const pages = [...corpus.pages.values()]
  const texts = readTexts(pages)
  const vocabulary = createVocabulary(texts.written)
  const weights = pages.map(({ searchWeight = 1 }) => searchWeight)
  const index = buildIndex(texts, weights)
  const readQuery = createQuestions(texts.numberOf, vocabulary)
  const readerOf = createReaders(texts, index)
  const fitOf = createFit(texts, index)
  const placesOf = createPlaces(texts)
  const snippetOf = createSnippets()

  // Of each page, for the question at hand.
  const worth = new Float64Array(pages.length)
  const ofTitle = new Float64Array(pages.length)
  const scores = new Float64Array(pages.length)
  const scoreOf = (page: number): number => scores[page] ?? 0
  const byScore = (a: number, b: number): number => scoreOf(b) - scoreOf(a) || a - b

  /** Scores all pages by their words, and gives the best of them, best first. */
  const rankPages = (asked: Asked, shares: readonly number[], most: number): number[] => {
    worth.fill(0)
    ofTitle.fill(0)
    for (const [n, term] of asked.terms.entries()) {
      const part = shares[n] ?? 0
      for (let i = index.termStarts[term] ?? 0; i < (index.termStarts[term + 1] ?? 0); i++) {
        const page = index.pages[i] ?? 0
        worth[page] = (worth[page] ?? 0) + part * (index.worth[i] ?? 0)
        if (index.inTitle[i] === 1) ofTitle[page] = (ofTitle[page] ?? 0) + (index.rarity[term] ?? 0)
      }
    }
    const best: number[] = []
    for (let page = 0; page < pages.length; page++) {
      scores[page] = 0
      if (worth[page] === 0) continue
      const title = index.titleRarity[page] ?? 0
      const titleShare = title === 0 ? 0 : (ofTitle[page] ?? 0) / title
      const score = (weights[page] ?? 1) * ((worth[page] ?? 0) + bonus.title * titleShare ** 2)
      scores[page] = score
      let at = best.length
      while (at > 0 && scoreOf(best[at - 1] ?? 0) < score) at--
      if (at === most) continue
      best.splice(at, 0, page)
      if (best.length > most) best.pop()
    }
    return best
  }

  const toHit = (id: number, place: Place, isWanted: (word: string) => boolean): Hit[] => {
    const score = scoreOf(id)
    const page = pages[id]
    if (page === undefined) return []
    const section = page.sections[place.part - 1]
    if (place.passage === undefined) return [{ page, score, section, snippet: page.description }]
    const start = texts.passageStarts[place.passage] ?? 0
    const isLast = place.passage + 1 === texts.partPassages[texts.pageParts[id + 1] ?? 0]
    const end = isLast ? page.markdown.length : texts.passageStarts[place.passage + 1]
    const kind = passageKinds[texts.passageKindsOf[place.passage] ?? 0] ?? "prose"
    return [
      { page, score, section, snippet: snippetOf(place.passage, page.markdown.slice(start, end), kind, isWanted) },
    ]
  }

  const find = (asked: Asked, offset: number, limit: number): Found => {
    const wanted = asked.terms.map((term, n) => (asked.weights[n] ?? 0) * (index.rarity[term] ?? 0))
    const sum = wanted.reduce((all, weight) => all + weight, 0)
    const shares = wanted.map((weight) => weight / sum)
    const reader = readerOf(asked)
    let best = 0
    for (const page of rankPages(asked, shares, mostRead)) {
      const score = scoreOf(page) + (weights[page] ?? 1) * fitOf(reader, shares, page)
      scores[page] = score
      best = Math.max(best, score)
    }
    const listed: number[] = []
    const least = cut.leastShare * best
    for (let page = 0; page < pages.length; page++) if (scoreOf(page) > 0 && scoreOf(page) >= least) listed.push(page)
    const placeOf = placesOf(reader, shares)
    const hits = listed
      .sort(byScore)
      .slice(offset, offset + limit)
      .flatMap((page) => toHit(page, placeOf(page), reader.asksFor))
    return { hits, total: listed.length }
  }

  // Questions in other words may ask for the same terms, and then have the same hits.
  const lately = createMemo<Found>({ maxEntries: 1000, fromSecondTime: true })

  return (query, offset, limit) => {
    const asked = readQuery(query)
    const { terms, weights: parts, pairs, corrected, searchable } = asked
    const key = `${offset} ${limit} ${terms.join()} ${parts.join()} ${pairs.join()}`
    return {
      ...(lately.get(key) ?? lately.set(key, find(asked, offset, limit))),
      ...(corrected !== query && { corrected }),
      searchable,
    }
  }
}
