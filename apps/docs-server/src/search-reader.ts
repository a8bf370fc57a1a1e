import type { Index } from "./search-index.ts"
import type { Asked } from "./search-query.ts"
import { type Texts, fieldNames } from "./search-text.ts"

/** Where the terms of a question stand in a stretch of the texts: their places, ascending, and which of them each is, from 1. */
export type Found = { readonly places: readonly number[]; readonly slots: readonly number[] }

/** A question laid over the texts. Its terms have slots, from 1. */
export type Reader = {
  /** One more than the terms of the question. */
  readonly size: number
  readonly title: (page: number) => Found
  readonly body: (page: number) => Found
  /** The entry of the index for a slot's term in a page; undefined when the page does not have it. */
  readonly entry: (slot: number, page: number) => number | undefined
  /** Whether a word of a page is one that the question asks for. */
  readonly asksFor: (word: string) => boolean
  /** Share of the question's neighbours that are neighbours between two indices of what was found. */
  readonly pairs: (found: Found, from: number, to: number) => number
  /** The same in all of a page's body. */
  readonly bodyPairs: (page: number) => number
}

/** The first index from `low` up to `high` whose number is not below `value`: the numbers ascend there. */
export const firstFrom = (numbers: ArrayLike<number>, value: number, low: number, high: number): number => {
  let from = low
  let to = high
  while (from < to) {
    const middle = (from + to) >> 1
    if ((numbers[middle] ?? 0) < value) from = middle + 1
    else to = middle
  }
  return from
}

const bodyField = fieldNames.indexOf("body")

/** For one question after the other: a reader is good until the next is made. */
export const createReaders = ({ numberOf, written, numbers, fieldStarts }: Texts, index: Index) => {
  const { termStarts, pages, places: allPlaces, placeStarts } = index
  const slotOf = new Uint16Array(numberOf.size)
  let before: readonly number[] = []
  const fieldStart = (page: number, field: number): number => fieldStarts[page * fieldNames.length + field] ?? 0

  const find = (from: number, to: number): Found => {
    const places: number[] = []
    const slots: number[] = []
    for (let place = from; place < to; place++) {
      const slot = slotOf[numbers[place] ?? 0] ?? 0
      if (slot === 0) continue
      places.push(place)
      slots.push(slot)
    }
    return { places, slots }
  }

  /** Whether the one entry has a place right before one of the other. */
  const areNeighbours = (first: number, second: number): boolean => {
    let i = placeStarts[first] ?? 0
    let j = placeStarts[second] ?? 0
    const iEnd = placeStarts[first + 1] ?? 0
    const jEnd = placeStarts[second + 1] ?? 0
    while (i < iEnd && j < jEnd) {
      const gap = (allPlaces[j] ?? 0) - (allPlaces[i] ?? 0)
      if (gap === 1) return true
      if (gap > 1) i++
      else j++
    }
    return false
  }

  return (asked: Asked): Reader => {
    for (const term of before) slotOf[term] = 0
    for (const [i, term] of asked.terms.entries()) slotOf[term] = i + 1
    before = asked.terms
    const size = asked.terms.length + 1
    const wanted = new Set(asked.pairs.map(([first, second]) => (slotOf[first] ?? 0) * size + (slotOf[second] ?? 0)))
    const wantedPairs = [...wanted].map((pair) => [Math.trunc(pair / size), pair % size] as const)

    const entry = (slot: number, page: number): number | undefined => {
      const term = asked.terms[slot - 1] ?? 0
      const end = termStarts[term + 1] ?? 0
      const at = firstFrom(pages, page, termStarts[term] ?? 0, end)
      return at < end && pages[at] === page ? at : undefined
    }
    return {
      size,
      title: (page) => find(fieldStart(page, 0), fieldStart(page, 1)),
      body: (page) => find(fieldStart(page, bodyField), fieldStart(page + 1, 0)),
      entry,
      asksFor: (word) => written.get(word)?.numbers.some((term) => slotOf[term] !== 0) === true,
      pairs: ({ places, slots }, from, to) => {
        if (wanted.size === 0 || to - from < 2) return 0
        let found: Set<number> | undefined
        for (let i = from; i + 1 < to; i++) {
          if ((places[i + 1] ?? 0) - (places[i] ?? 0) !== 1) continue
          const pair = (slots[i] ?? 0) * size + (slots[i + 1] ?? 0)
          if (wanted.has(pair)) (found ??= new Set()).add(pair)
        }
        return (found?.size ?? 0) / wanted.size
      },
      bodyPairs: (page) => {
        let found = 0
        for (const [first, second] of wantedPairs) {
          const one = entry(first, page)
          const other = entry(second, page)
          if (one !== undefined && other !== undefined && areNeighbours(one, other)) found++
        }
        return wanted.size === 0 ? 0 : found / wanted.size
      },
    }
  }
}
