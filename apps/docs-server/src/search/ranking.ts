import { createMatcher } from "./matches.ts"
import type { Named } from "./names.ts"
import type { Query } from "./query.ts"
import { createReader, type Reading } from "./reading.ts"
import type { Texts } from "./text.ts"
import { cut, half, maxRead, shortQuery, weights } from "./weights.ts"
import type { Index } from "./word-index.ts"

/**
 * Ranks pages: all of them by the values of the query's terms, and the best of them also by how close the terms are
 * together and by what other pages say of them.
 */
export const createRanking = (texts: Texts, index: Index, pageWeights: readonly number[]) => {
  const read = createReader(texts)
  const matcherOf = createMatcher(index)
  const pageCount = pageWeights.length

  // By page, and zero again after each query.
  const worth = new Float64Array(pageCount)
  const about = new Float64Array(pageCount)
  const ofTitle = new Float64Array(pageCount)
  const countedFor = new Int32Array(pageCount).fill(-1)
  const scores = new Float64Array(pageCount)

  const bounded = (page: number, score: number): number =>
    (pageWeights[page] ?? 1) < 1 ? Math.min(score, weights.aside + score / 100) : score

  /** Sets the scores of the pages that have a term of the query, and returns these pages. */
  const scorePages = ({ terms, firstAlike }: Query, shares: readonly number[]): number[] => {
    const found: number[] = []
    for (let n = 0; n < terms.length; n++) {
      const term = terms[n] ?? 0
      const share = shares[n] ?? 0
      const first = firstAlike[n] ?? n
      const end = index.termStarts[term + 1] ?? 0
      for (let i = index.termStarts[term] ?? 0; i < end; i++) {
        const page = index.pages[i] ?? 0
        if (countedFor[page] === first) continue
        if (countedFor[page] === -1) found.push(page)
        countedFor[page] = first
        worth[page] = (worth[page] ?? 0) + share * (index.worth[i] ?? 0)
        about[page] = (about[page] ?? 0) + share * (index.about[i] ?? 0)
        if (index.inTitle[i] === 1) ofTitle[page] = (ofTitle[page] ?? 0) + (index.rarity[term] ?? 0)
      }
    }
    for (const page of found) {
      const titleShare = (ofTitle[page] ?? 0) / (index.titleRarity[page] || 1)
      const short = half.page / (half.page + (index.lengths[page] ?? 0))
      const bonus = weights.about * (about[page] ?? 0) ** 2 + weights.title * titleShare ** 2 + weights.short * short
      scores[page] = bounded(page, (pageWeights[page] ?? 1) * ((worth[page] ?? 0) + bonus))
      worth[page] = about[page] = ofTitle[page] = 0
      countedFor[page] = -1
    }
    return found
  }

  const byScore = (a: number, b: number): number => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b

  // By term: its number in the query and one more; zero again after each query.
  const asked = new Uint16Array(texts.numberOf.size)

  /** The most of the query that another page says of this one, in the text around a link to it. */
  const linkedShare = (page: number, shares: readonly number[]): number => {
    const around = texts.linked[page] ?? []
    const seen = new Uint32Array(shares.length)
    let most = 0
    for (let i = 0; i < around.length; i += 2) {
      const start = around[i] ?? 0
      const end = around[i + 1] ?? 0
      let share = 0
      for (let at = start; at < end; at++) {
        const n = (asked[texts.numbers[at] ?? 0] ?? 0) - 1
        if (n === -1 || seen[n] === i + 1) continue
        seen[n] = i + 1
        share += shares[n] ?? 0
      }
      most = Math.max(most, (share * half.link) / (half.link + end - start))
    }
    return most
  }

  /** @param shares of the query, one for each of its terms @param named pages that the query names: they come first */
  return (query: Query, shares: readonly number[], named: Named) => {
    const found = scorePages(query, shares)
    const matchesOf = matcherOf(query)
    const readings = new Map<number, Reading>()
    const readingOf = (page: number): Reading =>
      readings.getOrInsertComputed(page, () => read(page, matchesOf(page), shares))
    for (const [n, term] of query.terms.entries()) asked[term] = (query.firstAlike[n] ?? n) + 1
    const inOnePlace = Math.min(1, shortQuery / query.terms.length)
    let most = 0
    for (const page of found.toSorted(byScore).slice(0, maxRead)) {
      const { pairs, covered, opening } = readingOf(page)
      const together = inOnePlace * (weights.pairs * pairs + weights.section * covered ** 2)
      const linked = weights.linked * linkedShare(page, shares) ** 2
      const more = (pageWeights[page] ?? 1) * (together + linked + weights.row * opening)
      scores[page] = bounded(page, (scores[page] ?? 0) + more)
      most = Math.max(most, scores[page] ?? 0)
    }
    for (const term of query.terms) asked[term] = 0
    const known = new Set(found)
    const listed = found.filter((page) => (scores[page] ?? 0) >= cut.leastShare * most || named.has(page))
    for (const [page, value] of named) {
      const own = known.has(page) ? (scores[page] ?? 0) : 0
      scores[page] = own + weights.named * value
      if (!known.has(page)) listed.push(page)
    }
    const ranked = listed.sort(byScore).map((page) => [page, scores[page] ?? 0] as const)
    return { ranked, readingOf }
  }
}
