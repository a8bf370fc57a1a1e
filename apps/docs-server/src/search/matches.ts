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
    const positionAt = (i: number): number => Math.floor((sorted[i] ?? 0) / maxTerms)
    const termAt = (i: number): number => (sorted[i] ?? 0) % maxTerms
    return {
      /** The terms that the title has. */
      titleTerms,
      positionAt,
      termAt,
      /** The first match from `i` on at or after a position. */
      indexOf: (position: number, i: number): number => {
        let at = i
        while (at < sorted.length && positionAt(at) < position) at++
        return at
      },
      /** The terms of the matches from `from` to `to`. */
      termsBetween: (from: number, to: number): Set<number> => {
        const between = new Set<number>()
        for (let i = from; i < to; i++) between.add(termAt(i))
        return between
      },
      /** The share of the query's neighbours that are neighbours on the page. */
      pairShare: (): number => {
        if (wantedPairs.size === 0) return 0
        const near = new Set<number>()
        for (let i = 0; i + 1 < sorted.length; i++)
          if (positionAt(i + 1) - positionAt(i) === 1) near.add(pairOf(termAt(i), termAt(i + 1)))
        return wantedPairs.intersection(near).size / wantedPairs.size
      },
    }
  }
}
