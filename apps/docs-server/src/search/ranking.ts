import { createMatcher } from "./matches.ts"
import type { Named } from "./names.ts"
import type { Query } from "./query.ts"
import { createReader } from "./reading.ts"
import type { Texts } from "./text.ts"
import { bonus, cut, maxRead } from "./weights.ts"
import type { Index } from "./word-index.ts"

/**
 * Ranks pages: all of them by the values of the query's terms, and the best of them also by how close the terms are
 * together, in the title, in the text and in one section.
 * @param weights of the pages
 */
export const createRanking = (texts: Texts, index: Index, weights: readonly number[]) => {
  const read = createReader(texts)

  /** The score of each page that has a term of the query. */
  const scorePages = ({ terms }: Query, shares: readonly number[]): Map<number, number> => {
    const worth = new Map<number, number>()
    const ofTitle = new Map<number, number>()
    for (const [n, term] of terms.entries()) {
      const share = shares[n] ?? 0
      for (let i = index.termStarts[term] ?? 0; i < (index.termStarts[term + 1] ?? 0); i++) {
        const page = index.pages[i] ?? 0
        worth.set(page, (worth.get(page) ?? 0) + share * (index.worth[i] ?? 0))
        if (index.inTitle[i] === 1) ofTitle.set(page, (ofTitle.get(page) ?? 0) + (index.rarity[term] ?? 0))
      }
    }
    for (const [page, value] of worth) {
      const titleShare = (ofTitle.get(page) ?? 0) / (index.titleRarity[page] || 1)
      worth.set(page, (weights[page] ?? 1) * (value + bonus.title * titleShare ** 2))
    }
    return worth
  }

  /** @param shares of the query, one for each of its terms @param named pages that the query names: they come first */
  return (query: Query, shares: readonly number[], named: Named) => {
    const scores = scorePages(query, shares)
    const matchesOf = createMatcher(index, query)
    const readingOf = (page: number) => read(page, matchesOf(page), shares)
    for (const [page, score] of [...scores].sort(([, a], [, b]) => b - a).slice(0, maxRead)) {
      const { titlePairs, pairs, covered, isRow } = readingOf(page)
      const together = bonus.titlePairs * titlePairs + bonus.pairs * pairs + bonus.section * covered ** 2
      scores.set(page, score + (weights[page] ?? 1) * (together + (isRow ? bonus.row : 0)))
    }
    const least = cut.leastShare * Math.max(...scores.values())
    for (const [page, score] of scores) if (score < least && !named.has(page)) scores.delete(page)
    for (const [page, value] of named) scores.set(page, (scores.get(page) ?? 0) + bonus.named * value)
    /** The pages to list with their scores, best first, and where each answers. */
    return { ranked: [...scores].sort(([a, one], [b, other]) => other - one || a - b), readingOf }
  }
}
