import type { Index } from "./search-index.ts"
import type { Asked } from "./search-query.ts"
import { type Texts, fieldNames } from "./search-text.ts"

/** Where the terms of a question stand in a stretch of the texts: their places, ascending, and which of them each is, from 1. */
export type Found = { readonly places: ArrayLike<number>; readonly slots: ArrayLike<number> }

/** A question laid over the texts. Its terms have slots, from 1. */
export type Reader = {
  /** One more than the terms of the question. */
  readonly size: number
  /** Where the question's terms stand in a page's body. */
  readonly body: (page: number) => Found
  /** The entry of the index for a slot's term in a page; undefined when the page does not have it. */
  readonly entry: (slot: number, page: number) => number | undefined
  readonly isInTitle: (slot: number, page: number) => boolean
  /** Whether a word of a page is one that the question asks for. */
  readonly asksFor: (word: string) => boolean
  /** Share of the question's neighbours that are neighbours between two indices of what was found. */
  readonly pairs: (found: Found, from: number, to: number) => number
  /** The same in a page's title, and in its body. */
  readonly titlePairs: (page: number) => number
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

// More than a question of 500 characters can have terms.
const mostSlots = 2 ** 16

/** For one question after the other: a reader is good until the next is made. */
export const createReaders = ({ numberOf, written, numbers, fieldStarts }: Texts, index: Index) => {
  const { termStarts, pages, inTitle, places: allPlaces, placeStarts } = index
  const slotOf = new Uint16Array(numberOf.size)
  let before: readonly number[] = []
  const fieldStart = (page: number, field: number): number => fieldStarts[page * fieldNames.length + field] ?? 0

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
    const pairs = ({ places, slots }: Found, from: number, to: number): number => {
      if (wanted.size === 0 || to - from < 2) return 0
      let found: Set<number> | undefined
      for (let i = from; i + 1 < to; i++) {
        if ((places[i + 1] ?? 0) - (places[i] ?? 0) !== 1) continue
        const pair = (slots[i] ?? 0) * size + (slots[i + 1] ?? 0)
        if (wanted.has(pair)) (found ??= new Set()).add(pair)
      }
      return (found?.size ?? 0) / wanted.size
    }
    return {
      size,
      body: (page) => {
        // A place and its slot in one number, to be sorted as such.
        const both: number[] = []
        for (let slot = 1; slot < size; slot++) {
          const at = entry(slot, page)
          if (at === undefined) continue
          for (let i = placeStarts[at] ?? 0; i < (placeStarts[at + 1] ?? 0); i++)
            both.push((allPlaces[i] ?? 0) * mostSlots + slot)
        }
        const places = new Uint32Array(both.length)
        const slots = new Uint16Array(both.length)
        const sorted = new Float64Array(both).sort()
        for (let i = 0; i < sorted.length; i++) {
          const one = sorted[i] ?? 0
          places[i] = Math.floor(one / mostSlots)
          slots[i] = one % mostSlots
        }
        return { places, slots }
      },
      entry,
      isInTitle: (slot, page) => inTitle[entry(slot, page) ?? -1] === 1,
      asksFor: (word) => written.get(word)?.numbers.some((term) => slotOf[term] !== 0) === true,
      pairs,
      titlePairs: (page) => {
        const found = new Set<number>()
        for (let i = fieldStart(page, 0); i + 1 < fieldStart(page, 1); i++) {
          const pair = (slotOf[numbers[i] ?? 0] ?? 0) * size + (slotOf[numbers[i + 1] ?? 0] ?? 0)
          if (wanted.has(pair)) found.add(pair)
        }
        return wanted.size === 0 ? 0 : found.size / wanted.size
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
