import type { Query } from "./query.ts"
import { createScratch } from "./scratch.ts"
import type { Index } from "./word-index.ts"

/** The positions of a query's terms in a page's title and body, ascending, until the next page is asked for. Terms have their numbers in the query. */
export type Matches = ReturnType<ReturnType<ReturnType<typeof createMatcher>>>

// More terms than a query of 500 characters can have.
const maxTerms = 2 ** 16

// For a term on one page.
const maxPositions = 1000

/** Finds the matches of a query, one page after the other. */
export const createMatcher = ({ lastPosition, positionBefore, inTitle, postingOf }: Index) => {
  const sortedBy = createScratch((length) => new Float64Array(length))
  const positionsBy = createScratch((length) => new Uint32Array(length))
  const termsBy = createScratch((length) => new Uint16Array(length))
  // A position and its term in one number, so that they can be sorted.
  const found: number[] = []

  return ({ terms, pairs }: Query) => {
    const pairOf = (first: number, second: number): number => first * terms.length + second
    const wantedPairs = new Set(pairs.map(([first, second]) => pairOf(terms.indexOf(first), terms.indexOf(second))))

    return (page: number) => {
      found.length = 0
      const titleTerms = new Set<number>()
      for (let n = 0; n < terms.length; n++) {
        const posting = postingOf(terms[n] ?? 0, page)
        if (posting === undefined) continue
        if (inTitle[posting] === 1) titleTerms.add(n)
        let position = lastPosition[posting] ?? -1
        for (let i = 0; i < maxPositions && position !== -1; i++) {
          found.push(position * maxTerms + n)
          position = positionBefore[position] ?? -1
        }
      }
      const sorted = sortedBy(found.length)
      sorted.set(found)
      sorted.sort()
      const positions = positionsBy(sorted.length)
      const termsAt = termsBy(sorted.length)
      for (let i = 0; i < sorted.length; i++) {
        const match = sorted[i] ?? 0
        positions[i] = match / maxTerms
        termsAt[i] = match % maxTerms
      }
      return {
        titleTerms,
        positions,
        termsAt,
        /** The share of the query's neighbours that are neighbours among the matches from `from` to `to`. */
        pairShare: (from = 0, to = positions.length): number => {
          let near: Set<number> | undefined
          for (let i = from + 1; i < to; i++) {
            if ((positions[i] ?? 0) - (positions[i - 1] ?? 0) !== 1) continue
            const pair = pairOf(termsAt[i - 1] ?? 0, termsAt[i] ?? 0)
            if (wantedPairs.has(pair)) (near ??= new Set()).add(pair)
          }
          return near === undefined ? 0 : near.size / wantedPairs.size
        },
      }
    }
  }
}
