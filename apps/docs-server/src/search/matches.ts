import type { Query } from "./query.ts"
import type { Index } from "./word-index.ts"

/** The positions of a query's terms in a page's title and body, ascending. Terms have their numbers in the query. */
export type Matches = ReturnType<ReturnType<typeof createMatcher>>

// More terms than a query of 500 characters can have.
const maxTerms = 2 ** 16

// For a term on one page.
const maxPositions = 1000

/** Finds the matches of a query, one page after the other. */
export const createMatcher = ({ lastPosition, positionBefore, inTitle, postingOf }: Index, query: Query) => {
  const { terms, pairs } = query
  const pairOf = (first: number, second: number): number => first * terms.length + second
  const wantedPairs = new Set(pairs.map(([first, second]) => pairOf(terms.indexOf(first), terms.indexOf(second))))

  return (page: number) => {
    // A position and its term in one number, so that they can be sorted.
    const found: number[] = []
    const titleTerms = new Set<number>()
    for (const [n, term] of terms.entries()) {
      const posting = postingOf(term, page)
      if (posting === undefined) continue
      if (inTitle[posting] === 1) titleTerms.add(n)
      let position = lastPosition[posting] ?? -1
      for (let i = 0; i < maxPositions && position !== -1; i++) {
        found.push(position * maxTerms + n)
        position = positionBefore[position] ?? -1
      }
    }
    const sorted = Float64Array.from(found).sort()
    const positions = Array.from(sorted, (match) => Math.floor(match / maxTerms))
    const termsAt = Array.from(sorted, (match) => match % maxTerms)
    const isPairAt = (i: number): boolean =>
      (positions[i + 1] ?? 0) - (positions[i] ?? 0) === 1 &&
      wantedPairs.has(pairOf(termsAt[i] ?? 0, termsAt[i + 1] ?? 0))
    return {
      /** The terms that the title has. */
      titleTerms,
      positions,
      termsAt,
      /** The share of the query's neighbours that are neighbours among the matches from `from` to `to`. */
      pairShare: (from = 0, to = positions.length): number => {
        if (wantedPairs.size === 0) return 0
        const near = new Set<number>()
        for (let i = from; i + 1 < to; i++) if (isPairAt(i)) near.add(pairOf(termsAt[i] ?? 0, termsAt[i + 1] ?? 0))
        return near.size / wantedPairs.size
      },
    }
  }
}
