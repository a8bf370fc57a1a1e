import { passageKinds } from "./passages.ts"
import type { Index } from "./word-index.ts"
import { firstIndex, type Matches } from "./matches.ts"
import type { Named } from "./names.ts"
import type { Query } from "./query.ts"
import type { Texts } from "./text.ts"
import { bonus, cut, mostRead, saturate, sectionWeights } from "./weights.ts"

const rowKind = passageKinds.indexOf("row")
const headingKind = passageKinds.indexOf("heading")

/** Of each section of a page: how much of the query is in it and in its heading, and how rare the query's terms there are. */
type SectionValues = readonly { covered: number; inHeading: number; headingRarity: number }[]

/**
 * Ranks pages: all of them by the worth of the query's terms on each, and the best of those by how closely the terms stand
 * together: side by side in the title or text, in one section, in one heading.
 * @param weights of the pages
 */
export const createRanking = (texts: Texts, index: Index, weights: readonly number[]) => {
  const { numbers, pageSections, sectionPassages, passageTerms, passageKindsOf } = texts
  const { rarity, positions, positionStarts, positionEnds, inTitle } = index
  const sectionCount = sectionPassages.length - 1
  const meanLength = Math.max(1, numbers.length / Math.max(1, sectionCount))
  /** Where each section starts, and the end of all. */
  const sectionStarts = Uint32Array.from(sectionPassages, (passage) => passageTerms[passage] ?? 0)
  /** Where the heading of each section ends; its start when it has none. */
  const headingEnds = Uint32Array.from(sectionPassages, (passage) => {
    const isHeading = passageKindsOf[passage] === headingKind
    return passageTerms[isHeading ? passage + 1 : passage] ?? 0
  })

  const rarityAt = (position: number): number => rarity[numbers[position] ?? 0] ?? 0

  // Of each page, for the query at hand.
  const worth = new Float64Array(weights.length)
  const ofTitle = new Float64Array(weights.length)
  const scores = new Float64Array(weights.length)
  const scoreOf = (page: number): number => scores[page] ?? 0

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

  const opensRow = (posting: number): boolean =>
    positions.subarray(positionStarts[posting], positionEnds[posting]).some((position) => {
      const passage = firstIndex(0, passageTerms.length, (i) => (passageTerms[i] ?? 0) > position) - 1
      return passageTerms[passage] === position && passageKindsOf[passage] === rowKind
    })

  /** Adds one term up, section by section. */
  const addTerm = (found: SectionValues, posting: number, share: number, firstSection: number): void => {
    const end = positionEnds[posting] ?? 0
    let section = firstSection
    let i = positionStarts[posting] ?? 0
    // What stands in front of the first section is the description.
    while (i < end && (positions[i] ?? 0) < (sectionStarts[firstSection] ?? 0)) i++
    while (i < end) {
      while ((positions[i] ?? 0) >= (sectionStarts[section + 1] ?? 0)) section++
      const from = sectionStarts[section] ?? 0
      const to = sectionStarts[section + 1] ?? 0
      const headingEnd = headingEnds[section] ?? 0
      const values = found[section - firstSection]
      const start = i
      let headed = 0
      for (; i < end && (positions[i] ?? to) < to; i++) if ((positions[i] ?? 0) < headingEnd) headed++
      if (values === undefined) continue
      values.covered += share * saturate(i - start, (to - from) / meanLength, sectionWeights)
      if (headed === 0) continue
      values.inHeading += share
      values.headingRarity += headed * rarityAt(positions[start] ?? 0)
    }
  }

  /** What a page gains because the query's terms stand together in it. */
  const bonusOf = (matches: Matches, shares: readonly number[], page: number): number => {
    const first = pageSections[page] ?? 0
    const count = (pageSections[page + 1] ?? 0) - first
    const found = Array.from({ length: count }, () => ({ covered: 0, inHeading: 0, headingRarity: 0 }))
    let row = 0
    let titleTerms = 0
    for (let queryTerm = 1; queryTerm < matches.size; queryTerm++) {
      const posting = matches.posting(queryTerm, page)
      if (posting === undefined) continue
      titleTerms += inTitle[posting] ?? 0
      addTerm(found, posting, shares[queryTerm - 1] ?? 0, first)
      if (matches.size === 2 && opensRow(posting)) row = 1
    }
    let bestSection = 0
    let bestHeading = 0
    for (const [at, { covered, inHeading, headingRarity }] of found.entries()) {
      bestSection = Math.max(bestSection, covered)
      if (headingRarity === 0) continue
      let whole = 0
      for (let i = sectionStarts[first + at] ?? 0; i < (headingEnds[first + at] ?? 0); i++) whole += rarityAt(i)
      // The share of the query in the heading, squared, times the share of the heading that the query has.
      bestHeading = Math.max(bestHeading, inHeading ** 2 * (headingRarity / whole))
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
  return (query: Query, matches: Matches, shares: readonly number[], named: Named) => {
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
    // The pages worth listing, best first.
    return { pages: listed.sort((a, b) => scoreOf(b) - scoreOf(a) || a - b), scoreOf }
  }
}
