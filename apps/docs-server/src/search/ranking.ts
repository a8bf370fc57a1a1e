import { createMatcher } from "./matches.ts"
import type { Named } from "./names.ts"
import type { Query } from "./query.ts"
import { createReader } from "./reading.ts"
import type { Texts } from "./text.ts"
import { cut, half, maxRead, shortQuery, weights } from "./weights.ts"
import type { Index } from "./word-index.ts"

/**
 * Ranks pages: all of them by the values of the query's terms, and the best of them also by how close the terms are
 * together and by what other pages say of them.
 */
export const createRanking = (texts: Texts, index: Index, pageWeights: readonly number[]) => {
  const read = createReader(texts)
  const pageCount = pageWeights.length

  /** The score of each page that has a term of the query. */
  const scorePages = ({ terms, firstAlike }: Query, shares: readonly number[]): Map<number, number> => {
    const worth = new Float64Array(pageCount)
    const about = new Float64Array(pageCount)
    const ofTitle = new Float64Array(pageCount)
    const countedFor = new Int32Array(pageCount).fill(-1)
    for (const [n, term] of terms.entries()) {
      const share = shares[n] ?? 0
      const first = firstAlike[n] ?? n
      for (let i = index.termStarts[term] ?? 0; i < (index.termStarts[term + 1] ?? 0); i++) {
        const page = index.pages[i] ?? 0
        if (countedFor[page] === first) continue
        countedFor[page] = first
        worth[page] = (worth[page] ?? 0) + share * (index.worth[i] ?? 0)
        about[page] = (about[page] ?? 0) + share * (index.about[i] ?? 0)
        if (index.inTitle[i] === 1) ofTitle[page] = (ofTitle[page] ?? 0) + (index.rarity[term] ?? 0)
      }
    }
    const scores = new Map<number, number>()
    for (const [page, value] of worth.entries()) {
      if (value === 0) continue
      const titleShare = (ofTitle[page] ?? 0) / (index.titleRarity[page] || 1)
      const short = half.page / (half.page + (index.lengths[page] ?? 0))
      const bonus = weights.about * (about[page] ?? 0) ** 2 + weights.title * titleShare ** 2 + weights.short * short
      scores.set(page, (pageWeights[page] ?? 1) * (value + bonus))
    }
    return scores
  }

  /** The most of the query that another page says of this one, in the text around a link to it. */
  const linkedShare = (page: number, numberOf: ReadonlyMap<number, number>, shares: readonly number[]): number => {
    const around = texts.linked[page] ?? []
    let most = 0
    for (let i = 0; i < around.length; i += 2) {
      const [start = 0, end = 0] = around.slice(i, i + 2)
      const said = new Set<number>()
      for (const term of texts.numbers.subarray(start, end)) {
        const n = numberOf.get(term)
        if (n !== undefined) said.add(n)
      }
      let share = 0
      for (const n of said) share += shares[n] ?? 0
      most = Math.max(most, (share * half.link) / (half.link + end - start))
    }
    return most
  }

  /** @param shares of the query, one for each of its terms @param named pages that the query names: they come first */
  return (query: Query, shares: readonly number[], named: Named) => {
    const scores = scorePages(query, shares)
    const matchesOf = createMatcher(index, query)
    const readingOf = (page: number) => read(page, matchesOf(page), shares)
    const numberOf = new Map(query.terms.map((term, n) => [term, query.firstAlike[n] ?? n]))
    const inOnePlace = Math.min(1, shortQuery / query.terms.length)
    for (const [page, score] of [...scores].sort(([, a], [, b]) => b - a).slice(0, maxRead)) {
      const { pairs, covered, opening } = readingOf(page)
      const together = inOnePlace * (weights.pairs * pairs + weights.section * covered ** 2)
      const linked = weights.linked * linkedShare(page, numberOf, shares) ** 2
      scores.set(page, score + (pageWeights[page] ?? 1) * (together + linked + weights.row * opening))
    }
    const least = cut.leastShare * Math.max(...scores.values())
    for (const [page, score] of scores) if (score < least && !named.has(page)) scores.delete(page)
    for (const [page, value] of named) scores.set(page, (scores.get(page) ?? 0) + weights.named * value)
    /** The pages to list with their scores, best first, and where each answers. */
    return { ranked: [...scores].sort(([a, one], [b, other]) => other - one || a - b), readingOf }
  }
}
