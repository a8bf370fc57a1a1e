import { type PassageKind, passageKinds } from "./passages.ts"
import type { Found, Matches } from "./matches.ts"
import type { Texts } from "./text.ts"
import { passageWeights, saturate, sectionWeights } from "./weights.ts"

/** Where a page answers a query: a section, counted from the page's first, and the passage in it to show. */
export type Choice = { readonly section: number; readonly passage: number | undefined }

// Sections and passages are read in their order: what was found in one ends where the next begins.
const indexOfPosition = ({ positions }: Found, position: number, from: number): number => {
  let i = from
  while (i < positions.length && (positions[i] ?? 0) < position) i++
  return i
}

/** Chooses the section of a page that answers a query, by its terms, its heading and its best passage. */
export const createSectionChooser = ({ pageSections, sectionPassages, passageTerms, passageKindsOf }: Texts) => {
  const startOf = (section: number): number => passageTerms[sectionPassages[section] ?? 0] ?? 0

  return (matches: Matches, shares: readonly number[]) => {
    const { size } = matches
    // Of each query term: how many sections have it, how telling it is, how often the section at hand has it.
    const having = new Uint32Array(size)
    const telling = new Float64Array(size)
    const times = new Float64Array(size)
    // The latest round in which a query term was met, so that each counts once in it.
    const met = new Uint32Array(size)
    let round = 0

    /** What each term says about which section is meant: the more sections have it, the less. The sum is 1. */
    const weighTerms = (page: number, body: Found): void => {
      const from = pageSections[page] ?? 0
      const to = pageSections[page + 1] ?? 0
      having.fill(0)
      let i = indexOfPosition(body, startOf(from), 0)
      for (let section = from; section < to; section++) {
        round++
        for (const end = indexOfPosition(body, startOf(section + 1), i); i < end; i++) {
          const term = body.queryTerms[i] ?? 0
          if (met[term] !== round) having[term] = (having[term] ?? 0) + 1
          met[term] = round
        }
      }
      let sum = 0
      for (let term = 1; term < size; term++) {
        const sections = having[term] ?? 0
        const value = sections === 0 ? 0 : (shares[term - 1] ?? 0) * Math.log(1 + (to - from) / sections)
        telling[term] = matches.isInTitle(term, page) ? value * sectionWeights.ofTitle : value
        sum += telling[term] ?? 0
      }
      if (sum > 0) for (let term = 1; term < size; term++) telling[term] = (telling[term] ?? 0) / sum
    }
    const tellingOf = ({ queryTerms }: Found, start: number, end: number): number => {
      round++
      let sum = 0
      for (let i = start; i < end; i++) {
        const term = queryTerms[i] ?? 0
        if (met[term] !== round) sum += telling[term] ?? 0
        met[term] = round
      }
      return sum
    }

    /** Of a heading of so many terms, which has those between two indices. */
    const headingValue = (body: Found, terms: number, start: number, end: number): number => {
      const said = tellingOf(body, start, end)
      if (said === 0) return 0
      const share = said / (said + (terms - (end - start)) * sectionWeights.otherWord)
      return said + sectionWeights.headingCover * share ** 2 + sectionWeights.pairs * matches.pairs(body, start, end)
    }
    /** Of a passage that starts at a position and has what is between two indices. */
    const passageValue = (body: Found, kind: PassageKind, position: number, start: number, end: number): number => {
      const opens = (kind === "row" || kind === "item") && (body.positions[start] ?? 0) < position + 3
      const opening = opens ? (size === 2 ? passageWeights.openingAlone : passageWeights.opening) : 0
      const pairs = passageWeights.pairs * matches.pairs(body, start, end)
      return tellingOf(body, start, end) * passageWeights.kind[kind] + pairs + opening
    }

    return (page: number): Choice => {
      const from = pageSections[page] ?? 0
      const body = matches.body(page)
      weighTerms(page, body)
      let best: Choice = { section: 0, passage: undefined }
      let bestScore = -1
      let sectionEnd = indexOfPosition(body, startOf(from), 0)
      for (let section = from; section < (pageSections[page + 1] ?? 0); section++) {
        const sectionStart = sectionEnd
        sectionEnd = indexOfPosition(body, startOf(section + 1), sectionStart)
        // A page found by its title or path alone is meant as a whole.
        if (sectionStart === sectionEnd) continue
        const first = sectionPassages[section] ?? 0
        times.fill(0)
        let heading = 0
        let passage: number | undefined
        let bestPassage = 0
        let end = sectionStart
        for (let one = first; one < (sectionPassages[section + 1] ?? 0); one++) {
          const kind = passageKinds[passageKindsOf[one] ?? 0] ?? "mark"
          const position = passageTerms[one] ?? 0
          const nextPosition = passageTerms[one + 1] ?? 0
          const start = end
          end = indexOfPosition(body, nextPosition, start)
          for (let i = start; i < end; i++) {
            const term = body.queryTerms[i] ?? 0
            times[term] = (times[term] ?? 0) + (kind === "code" ? sectionWeights.code : 1)
          }
          if (kind === "mark") continue
          if (kind === "heading") {
            // The page's own title says nothing about which of its sections fits.
            if (one === first && section > from + 1) heading = headingValue(body, nextPosition - position, start, end)
            continue
          }
          const asFirst = kind === "prose" && one === first + 1 ? passageWeights.firstProse : 0
          const value = asFirst + (start === end ? 0 : passageValue(body, kind, position, start, end))
          if (passage === undefined || value > bestPassage) {
            passage = one
            bestPassage = value
          }
        }
        let words = 0
        for (let term = 1; term < size; term++)
          words += (telling[term] ?? 0) * saturate(times[term] ?? 0, 1, { half: sectionWeights.halfOfWords, length: 0 })
        const score =
          sectionWeights.words * words +
          sectionWeights.heading * heading +
          sectionWeights.passage * bestPassage +
          sectionWeights.pairs * matches.pairs(body, sectionStart, sectionEnd)
        if (score > bestScore && (section > from || passage !== undefined)) {
          best = { section: section - from, passage }
          bestScore = score
        }
      }
      return best
    }
  }
}
