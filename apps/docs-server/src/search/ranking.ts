import { passageKinds } from "./passages.ts"
import type { Index } from "./word-index.ts"
import { firstFrom, type Matches } from "./matches.ts"
import type { Named } from "./names.ts"
import type { Query } from "./query.ts"
import type { Texts } from "./text.ts"
import { bonus, cut, mostRead, saturate, sectionWeights } from "./weights.ts"

const rowKind = passageKinds.indexOf("row")
const headingKind = passageKinds.indexOf("heading")

export type Ranking = {
  /** The pages worth listing, best first. */
  readonly pages: readonly number[]
  readonly scoreOf: (page: number) => number
}

/**
 * Ranks pages: all of them by the worth of the query's terms on each, and the best of those by how closely the terms stand
 * together: side by side in the title or text, in one section, in one heading.
 * @param weights of the pages
 */
export const createRanking = (texts: Texts, index: Index, weights: readonly number[]) => {
  const { numbers, pageSections, sectionPassages, passageTerms, passageKindsOf } = texts
  const { rarity, positions, positionStarts, inTitle } = index
  const sectionCount = sectionPassages.length - 1
  const meanLength = Math.max(1, numbers.length / Math.max(1, sectionCount))
  /** Where each section starts, and the end of all. */
  const sectionStarts = Uint32Array.from(sectionPassages, (passage) => passageTerms[passage] ?? 0)
  /** Where the heading of each section ends, its start when it has none, and how rare the heading's terms are together. */
  const headingEnds = sectionStarts.slice()
  const headingRarity = new Float64Array(sectionCount)
  for (let section = 0; section < sectionCount; section++) {
    const first = sectionPassages[section] ?? 0
    if (passageKindsOf[first] !== headingKind) continue
    headingEnds[section] = passageTerms[first + 1] ?? 0
    for (let position = sectionStarts[section] ?? 0; position < (headingEnds[section] ?? 0); position++)
      headingRarity[section] = (headingRarity[section] ?? 0) + (rarity[numbers[position] ?? 0] ?? 0)
  }

  // Of each page, for the query at hand.
  const worth = new Float64Array(weights.length)
  const ofTitle = new Float64Array(weights.length)
  const scores = new Float64Array(weights.length)
  const scoreOf = (page: number): number => scores[page] ?? 0

  // Of the sections of the page at hand: how much of the query is in each and in its heading, and how rare its terms there are.
  const mostSections = pageSections.reduce(
    (most, first, page) => Math.max(most, (pageSections[page + 1] ?? first) - first),
    0,
  )
  const covered = new Float64Array(mostSections)
  const inHeading = new Float64Array(mostSections)
  const queryRarity = new Float64Array(mostSections)

  /** Scores all pages by their terms, and returns the best of them, best first. */
  const scorePages = (query: Query, shares: readonly number[]): number[] => {
    worth.fill(0)
    ofTitle.fill(0)
    for (const [n, term] of query.terms.entries()) {
      const share = shares[n] ?? 0
      for (let i = index.termStarts[term] ?? 0; i < (index.termStarts[term + 1] ?? 0); i++) {
        const page = index.pages[i] ?? 0
        worth[page] = (worth[page] ?? 0) + share * (index.worth[i] ?? 0)
        if (inTitle[i] === 1) ofTitle[page] = (ofTitle[page] ?? 0) + (rarity[term] ?? 0)
      }
    }
    const best: number[] = []
    for (let page = 0; page < weights.length; page++) {
      scores[page] = 0
      if (worth[page] === 0) continue
      const title = index.titleRarity[page] ?? 0
      const titleShare = title === 0 ? 0 : (ofTitle[page] ?? 0) / title
      const score = (weights[page] ?? 1) * ((worth[page] ?? 0) + bonus.title * titleShare ** 2)
      scores[page] = score
      let at = best.length
      while (at > 0 && scoreOf(best[at - 1] ?? 0) < score) at--
      if (at === mostRead) continue
      best.splice(at, 0, page)
      if (best.length > mostRead) best.pop()
    }
    return best
  }

  const opensRow = (posting: number): boolean => {
    for (let i = positionStarts[posting] ?? 0; i < (positionStarts[posting + 1] ?? 0); i++) {
      const position = positions[i] ?? 0
      const passage = firstFrom(passageTerms, position + 1, 0, passageTerms.length) - 1
      if (passageTerms[passage] === position && passageKindsOf[passage] === rowKind) return true
    }
    return false
  }

  /** Adds one term up, section by section. */
  const addTerm = (posting: number, share: number, firstSection: number): void => {
    const end = positionStarts[posting + 1] ?? 0
    let section = firstSection
    let i = positionStarts[posting] ?? 0
    // What stands in front of the first section is the description.
    while (i < end && (positions[i] ?? 0) < (sectionStarts[firstSection] ?? 0)) i++
    while (i < end) {
      while ((positions[i] ?? 0) >= (sectionStarts[section + 1] ?? 0)) section++
      const from = sectionStarts[section] ?? 0
      const to = sectionStarts[section + 1] ?? 0
      const headingEnd = headingEnds[section] ?? 0
      const at = section - firstSection
      const start = i
      let headed = 0
      for (; i < end && (positions[i] ?? to) < to; i++) if ((positions[i] ?? 0) < headingEnd) headed++
      covered[at] = (covered[at] ?? 0) + share * saturate(i - start, (to - from) / meanLength, sectionWeights)
      if (headed === 0) continue
      inHeading[at] = (inHeading[at] ?? 0) + share
      queryRarity[at] = (queryRarity[at] ?? 0) + headed * (rarity[numbers[positions[start] ?? 0] ?? 0] ?? 0)
    }
  }

  /** What a page gains because the query's terms stand together in it. */
  const bonusOf = (matches: Matches, shares: readonly number[], page: number): number => {
    const first = pageSections[page] ?? 0
    const count = (pageSections[page + 1] ?? 0) - first
    covered.fill(0, 0, count)
    inHeading.fill(0, 0, count)
    queryRarity.fill(0, 0, count)
    let row = 0
    let titleTerms = 0
    for (let queryTerm = 1; queryTerm < matches.size; queryTerm++) {
      const posting = matches.posting(queryTerm, page)
      if (posting === undefined) continue
      titleTerms += inTitle[posting] ?? 0
      addTerm(posting, shares[queryTerm - 1] ?? 0, first)
      if (matches.size === 2 && opensRow(posting)) row = 1
    }
    let bestSection = 0
    let bestHeading = 0
    for (let at = 0; at < count; at++) {
      bestSection = Math.max(bestSection, covered[at] ?? 0)
      const rare = queryRarity[at] ?? 0
      // The share of the query in the heading, squared, times the share of the heading that the query has.
      if (rare > 0)
        bestHeading = Math.max(bestHeading, (inHeading[at] ?? 0) ** 2 * (rare / (headingRarity[first + at] ?? 1)))
    }
    const titlePairs = titleTerms < 2 ? 0 : matches.titlePairs(page)
    return (
      bonus.titlePairs * titlePairs +
      bonus.pairs * Math.max(titlePairs, matches.bodyPairs(page)) +
      bonus.section * bestSection ** 2 +
      bonus.heading * bestHeading +
      bonus.row * row
    )
  }

  /** Valid until the next query. @param shares of the query, one for each of its terms @param named come first */
  return (query: Query, matches: Matches, shares: readonly number[], named: Named): Ranking => {
    let best = 0
    for (const page of scorePages(query, shares)) {
      const score = scoreOf(page) + (weights[page] ?? 1) * bonusOf(matches, shares, page)
      scores[page] = score
      best = Math.max(best, score)
    }
    const listed: number[] = []
    for (let page = 0; page < weights.length; page++)
      if (named.has(page) || (scoreOf(page) > 0 && scoreOf(page) >= cut.leastShare * best)) listed.push(page)
    for (const [page, value] of named) scores[page] = scoreOf(page) + bonus.named * value
    return { pages: listed.sort((a, b) => scoreOf(b) - scoreOf(a) || a - b), scoreOf }
  }
}
