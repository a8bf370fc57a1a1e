import type { Index } from "./word-index.ts"
import type { Query } from "./query.ts"
import { type Texts, fieldNames } from "./text.ts"

/** Positions of query terms in a stretch of the texts, ascending, and which query term stands at each. */
export type Found = { readonly positions: ArrayLike<number>; readonly queryTerms: ArrayLike<number> }

/** Where the terms of one query stand. Query terms are numbered from 1; 0 is any other term. */
export type Matches = ReturnType<ReturnType<typeof createMatcher>>

/** The first index from `low` up to `high` that fits, where all behind it fit too; `high` where none does. */
export const firstIndex = (low: number, high: number, fits: (index: number) => boolean): number => {
  let from = low
  let to = high
  while (from < to) {
    const middle = (from + to) >> 1
    if (fits(middle)) to = middle
    else from = middle + 1
  }
  return from
}

// More terms than a query of 500 characters can have.
const mostQueryTerms = 2 ** 16

/** Finds the matches of one query after the other: they are valid until the next query. */
export const createMatcher = ({ numberOf, written, numbers, fieldStarts }: Texts, index: Index) => {
  const { termStarts, pages, inTitle, positions: allPositions, positionStarts, positionEnds } = index
  const queryTermOf = new Uint16Array(numberOf.size)
  let before: readonly number[] = []
  const fieldStart = (page: number, field: number): number => fieldStarts[page * fieldNames.length + field] ?? 0

  /** Whether one posting has a position right before one of the other. */
  const areNeighbours = (first: number, second: number): boolean => {
    let i = positionStarts[first] ?? 0
    let j = positionStarts[second] ?? 0
    const iEnd = positionEnds[first] ?? 0
    const jEnd = positionEnds[second] ?? 0
    while (i < iEnd && j < jEnd) {
      const gap = (allPositions[j] ?? 0) - (allPositions[i] ?? 0)
      if (gap === 1) return true
      if (gap > 1) i++
      else j++
    }
    return false
  }

  return (query: Query) => {
    for (const term of before) queryTermOf[term] = 0
    for (const [i, term] of query.terms.entries()) queryTermOf[term] = i + 1
    before = query.terms
    const size = query.terms.length + 1
    const pairOf = (first: number, second: number): number =>
      (queryTermOf[first] ?? 0) * size + (queryTermOf[second] ?? 0)
    const wanted = new Set(query.pairs.map(([first, second]) => pairOf(first, second)))
    const shareOf = (found: ReadonlySet<number>): number =>
      wanted.size === 0 ? 0 : wanted.intersection(found).size / wanted.size

    const posting = (queryTerm: number, page: number): number | undefined => {
      const term = query.terms[queryTerm - 1] ?? 0
      const end = termStarts[term + 1] ?? 0
      const at = firstIndex(termStarts[term] ?? 0, end, (i) => (pages[i] ?? 0) >= page)
      return at < end && pages[at] === page ? at : undefined
    }
    return {
      /** One more than the number of query terms. */
      size,
      /** A query term's posting for a page; undefined when the page doesn't have the term. */
      posting,
      body: (page: number): Found => {
        // A position and its query term in one number, to be sorted as such.
        const both: number[] = []
        for (let queryTerm = 1; queryTerm < size; queryTerm++) {
          const at = posting(queryTerm, page)
          if (at === undefined) continue
          for (let i = positionStarts[at] ?? 0; i < (positionEnds[at] ?? 0); i++)
            both.push((allPositions[i] ?? 0) * mostQueryTerms + queryTerm)
        }
        const sorted = new Float64Array(both).sort()
        return {
          positions: Uint32Array.from(sorted, (one) => Math.floor(one / mostQueryTerms)),
          queryTerms: Uint16Array.from(sorted, (one) => one % mostQueryTerms),
        }
      },
      isInTitle: (queryTerm: number, page: number): boolean => inTitle[posting(queryTerm, page) ?? -1] === 1,
      /** Whether the query asks for a word of a page. */
      asksFor: (word: string): boolean => written.get(word)?.numbers.some((term) => queryTermOf[term] !== 0) === true,
      /** Share of the query's neighbours that are neighbours between two indices of what was found. */
      pairs: ({ positions, queryTerms }: Found, from: number, to: number): number => {
        if (wanted.size === 0 || to - from < 2) return 0
        const found = new Set<number>()
        for (let i = from; i + 1 < to; i++)
          if ((positions[i + 1] ?? 0) - (positions[i] ?? 0) === 1)
            found.add((queryTerms[i] ?? 0) * size + (queryTerms[i + 1] ?? 0))
        return shareOf(found)
      },
      /** The same in a page's title, and in its body. */
      titlePairs: (page: number): number => {
        const found = new Set<number>()
        for (let i = fieldStart(page, 0); i + 1 < fieldStart(page, 1); i++)
          found.add(pairOf(numbers[i] ?? 0, numbers[i + 1] ?? 0))
        return shareOf(found)
      },
      bodyPairs: (page: number): number => {
        const areTogether = (pair: number): boolean => {
          const one = posting(Math.trunc(pair / size), page)
          const other = posting(pair % size, page)
          return one !== undefined && other !== undefined && areNeighbours(one, other)
        }
        return shareOf(new Set([...wanted].filter(areTogether)))
      },
    }
  }
}
