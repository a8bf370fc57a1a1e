import type { Matches } from "./matches.ts"
import { passageKinds } from "./passages.ts"
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
  /** Whether the passage is a table row that begins with the query's only word. */
  readonly isRow: boolean
  /** The passage to show; undefined if only the title or the path has words of the query. */
  readonly passage: number | undefined
}

/** Reads the sections of a page: how much of a query is in the heading, in the best passage and in the whole section. */
export const createReader = ({ fieldStarts, pageSections, sectionPassages, passageTerms, passageKindsOf }: Texts) => {
  const meanLength = Math.max(1, (fieldStarts.at(-1) ?? 0) / (sectionPassages.length - 1))

  /** @param shares of the query, one for each of its terms */
  return (page: number, matches: Matches, shares: readonly number[]): Reading => {
    const { indexOf, pairShare, positionAt, termAt, termsBetween, titleTerms } = matches
    const pageEnd = fieldStarts[(page + 1) * fieldNames.length] ?? 0
    const startOf = (passage: number): number => Math.min(passageTerms[passage] ?? pageEnd, pageEnd)
    const first = pageSections[page] ?? 0
    const count = (pageSections[page + 1] ?? 0) - first
    /** The first passage and the first match of each section, with the end of the page as the last element. */
    const passages = Array.from({ length: count + 1 }, (_, i) => sectionPassages[first + i] ?? 0)
    const starts: number[] = []
    for (const passage of passages) starts.push(indexOf(startOf(passage), starts.at(-1) ?? 0))

    // The more sections have a term, the less it tells which section is meant.
    const having = shares.map(() => 0)
    for (let i = 0; i < count; i++)
      for (const n of termsBetween(starts[i] ?? 0, starts[i + 1] ?? 0)) having[n] = (having[n] ?? 0) + 1
    const telling = shares.map((share, n) =>
      // The page's title doesn't tell which of its sections is meant.
      having[n] === 0 || titleTerms.has(n) ? 0 : share * Math.log(1 + count / (having[n] ?? 1)),
    )
    const all = telling.reduce((sum, value) => sum + value, 0) || 1
    const valueOf = (from: number, to: number, known?: ReadonlySet<number>): number => {
      let sum = 0
      for (const n of termsBetween(from, to))
        sum += (telling[n] ?? 0) * (known?.has(n) === true ? passageWeights.ofHeading : 1)
      return sum / all
    }
    /** The value of a heading with `length` terms and the matches from `from` to `to`. */
    const headingValue = (length: number, from: number, to: number): number => {
      const said = valueOf(from, to)
      return said === 0 ? 0 : said + (said / (said + (length - (to - from)) * sectionWeights.otherWord)) ** 2
    }

    let best: Pick<Reading, "section" | "passage"> = { section: 0, passage: undefined }
    let row: typeof best | undefined
    let bestScore = -1
    let covered = 0
    for (let section = 0; section < count; section++) {
      const [from = 0, to = 0] = starts.slice(section)
      const [firstPassage = 0, endPassage = 0] = passages.slice(section)
      if (from === to) continue
      const times = shares.map(() => 0)
      for (let i = from; i < to; i++) times[termAt(i)] = (times[termAt(i)] ?? 0) + 1
      const length = (startOf(endPassage) - startOf(firstPassage)) / meanLength
      let words = 0
      let inSection = 0
      for (const [n, share] of shares.entries()) {
        words += ((telling[n] ?? 0) / all) * saturate(times[n] ?? 0, 1, sectionWeights.words)
        inSection += share * saturate(times[n] ?? 0, length, sectionWeights.covered)
      }
      covered = Math.max(covered, Math.min(1, inSection))
      let heading = 0
      let headingTerms: ReadonlySet<number> = new Set()
      let passage: number | undefined
      let bestPassage = 0
      let end = from
      for (let one = firstPassage; one < endPassage; one++) {
        const kind = passageKinds[passageKindsOf[one] ?? 0] ?? "mark"
        const start = end
        end = indexOf(startOf(one + 1), start)
        if (kind === "heading" && one === firstPassage) headingTerms = termsBetween(start, end)
        // The first section's heading is the page's title.
        if (kind === "heading" && one === firstPassage && section > 1)
          heading = headingValue(startOf(one + 1) - startOf(one), start, end)
        if (kind === "heading" || kind === "mark") continue
        const value = valueOf(start, end, headingTerms) * (kind === "code" ? passageWeights.code : 1)
        if (shares.length === 1 && kind === "row" && start < end && positionAt(start) === startOf(one))
          row ??= { section, passage: one }
        if (passage === undefined || value > bestPassage) {
          passage = one
          bestPassage = value
        }
      }
      const score = sectionWeights.words.weight * words + heading + sectionWeights.passage * bestPassage
      if (score > bestScore && (section > 0 || passage !== undefined)) {
        best = { section, passage }
        bestScore = score
      }
    }
    return {
      ...best,
      ...row,
      isRow: row !== undefined,
      covered,
      pairs: pairShare(),
    }
  }
}
