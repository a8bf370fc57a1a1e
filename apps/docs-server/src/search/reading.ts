import type { Matches } from "./matches.ts"
import { passageKinds } from "./passages.ts"
import { createScratch } from "./scratch.ts"
import { fieldNames, type Texts } from "./text.ts"
import { passageWeights, saturate, sectionWeights } from "./weights.ts"

/** How much of a query a page has, and where it answers it. */
export type Reading = {
  /** The share of the query's neighbours that are neighbours in the title or in the text. */
  readonly pairs: number
  /** The share of the query in the section that has the most of it. */
  readonly covered: number
  /** The section that answers the query, counted from the page's first. */
  readonly section: number
  /** The share of the query that a table row begins with: all of a single word, or several words one after the other. */
  readonly opening: number
  /** The passage to show; undefined if only the title or the path has words of the query. */
  readonly passage: number | undefined
}

/** Reads the sections of a page: how much of a query is in the heading, in the best passage and in the whole section. */
export const createReader = ({ fieldStarts, pageSections, sectionPassages, passageTerms, passageKindsOf }: Texts) => {
  const meanLength = Math.max(1, (fieldStarts.at(-1) ?? 0) / (sectionPassages.length - 1))
  const kindOf = (passage: number) => passageKinds[passageKindsOf[passage] ?? 0] ?? "mark"
  const isContent = (passage: number): boolean => kindOf(passage) !== "heading" && kindOf(passage) !== "mark"

  const passagesBy = createScratch((length) => new Int32Array(length))
  const sectionsBy = createScratch((length) => new Int32Array(length))

  /** @param shares of the query, one for each of its terms */
  return (page: number, matches: Matches, shares: readonly number[]): Reading => {
    const { pairShare, positions, termsAt, titleTerms } = matches
    const pageEnd = fieldStarts[(page + 1) * fieldNames.length] ?? 0
    const startOf = (passage: number): number => Math.min(passageTerms[passage] ?? pageEnd, pageEnd)
    const first = pageSections[page] ?? 0
    const count = (pageSections[page + 1] ?? 0) - first
    const passageOf = (section: number): number => sectionPassages[first + section] ?? 0
    const endOfPage = passageOf(count)

    /** The passage and the section of each match; those of the title have none. */
    const passages = passagesBy(positions.length, -1)
    const sections = sectionsBy(positions.length, -1)
    // The more sections have a term, the less it tells which section is meant.
    const having = shares.map(() => 0)
    const lastIn = shares.map(() => -1)
    let passage = passageOf(0)
    let section = 0
    for (let i = 0; i < positions.length; i++) {
      const position = positions[i] ?? 0
      while (passage + 1 < endOfPage && startOf(passage + 1) <= position) passage++
      while (section + 1 < count && passageOf(section + 1) <= passage) section++
      if (position < startOf(passage) || passage >= endOfPage) continue
      passages[i] = passage
      sections[i] = section
      const n = termsAt[i] ?? 0
      if (lastIn[n] === section) continue
      lastIn[n] = section
      having[n] = (having[n] ?? 0) + 1
    }
    const telling = shares.map(() => 0)
    let all = 0
    for (let n = 0; n < shares.length; n++) {
      // The page's title doesn't tell which of its sections is meant.
      if (having[n] === 0 || titleTerms.has(n)) continue
      telling[n] = (shares[n] ?? 0) * Math.log(1 + count / (having[n] ?? 1))
      all += telling[n] ?? 0
    }
    for (let n = 0; n < shares.length; n++) telling[n] = (telling[n] ?? 0) / (all || 1)

    let best: Pick<Reading, "section" | "passage"> = { section: 0, passage: undefined }
    let bestScore = -1
    let covered = 0
    const ofHeading = shares.map(() => 0)
    let opening = 0
    let row: typeof best | undefined
    const times = shares.map(() => 0)
    /** The end of the matches that are in the same section or passage as the one at `from`. */
    const endOf = (places: Int32Array, from: number): number => {
      let end = from
      while (end < places.length && places[end] === places[from]) end++
      return end
    }
    /** The share of the query that a row begins with. */
    const openingOf = (from: number, to: number): number => {
      if (positions[from] !== startOf(passages[from] ?? 0)) return 0
      if (shares.length === 1) return 1
      let end = from
      while (end + 1 < to && pairShare(end, end + 2) > 0) end++
      if (end === from) return 0
      let share = 0
      for (let i = from; i <= end; i++) share += shares[termsAt[i] ?? 0] ?? 0
      return share
    }
    for (let from = sections.lastIndexOf(-1) + 1; from < sections.length;) {
      const to = endOf(sections, from)
      const here = sections[from] ?? 0
      const [firstPassage, endPassage] = [passageOf(here), passageOf(here + 1)]
      times.fill(0)
      for (let i = from; i < to; i++) times[termsAt[i] ?? 0] = (times[termsAt[i] ?? 0] ?? 0) + 1
      const length = (startOf(endPassage) - startOf(firstPassage)) / meanLength
      let words = 0
      let inSection = 0
      for (let n = 0; n < shares.length; n++) {
        if (times[n] === 0) continue
        words += (telling[n] ?? 0) * saturate(times[n] ?? 0, 1, sectionWeights.words)
        inSection += (shares[n] ?? 0) * saturate(times[n] ?? 0, length, sectionWeights.covered)
      }
      covered = Math.max(covered, Math.min(1, inSection))
      let heading = 0
      ofHeading.fill(0)
      let bestPassage = 0
      let chosen: number | undefined
      for (let start = from; start < to;) {
        const one = passages[start] ?? 0
        const end = endOf(passages, start)
        const kind = kindOf(one)
        const isHeading = kind === "heading" && one === firstPassage
        let value = 0
        for (let i = start; i < end; i++) {
          const n = termsAt[i] ?? 0
          if (lastIn[n] === -2 - one) continue
          lastIn[n] = -2 - one
          value += (telling[n] ?? 0) * (ofHeading[n] === 1 ? passageWeights.ofHeading : 1)
          if (isHeading) ofHeading[n] = 1
        }
        if (isHeading && here > 1 && value > 0) {
          // The first section's heading is the page's title.
          const others = startOf(one + 1) - startOf(one) - (end - start)
          heading = value + (value / (value + others * sectionWeights.otherWord)) ** 2
        }
        if (isContent(one)) {
          if (kind === "code") value *= passageWeights.code
          if (kind === "row") {
            const share = openingOf(start, end)
            if (share > opening) [opening, row] = [share, { section: here, passage: one }]
          }
          value += passageWeights.pairs * pairShare(start, end)
          if (value > bestPassage) [bestPassage, chosen] = [value, one]
        }
        start = end
      }
      for (let one = firstPassage; chosen === undefined && one < endPassage; one++) if (isContent(one)) chosen = one
      const score = sectionWeights.words.weight * words + heading + bestPassage
      if (score > bestScore && (here > 0 || chosen !== undefined)) {
        best = { section: here, passage: chosen }
        bestScore = score
      }
      from = to
    }
    return { ...best, ...(opening === 1 ? row : undefined), opening, covered, pairs: pairShare() }
  }
}
