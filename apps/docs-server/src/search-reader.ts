import type { Asked } from "./search-query.ts"
import { type Texts, fieldNames } from "./search-text.ts"

/** Where the terms of a question stand in a stretch of the texts: their places, ascending, and which of them each is, from 1. */
export type Found = { readonly places: readonly number[]; readonly slots: readonly number[] }

/** A question laid over the texts. */
export type Reader = {
  /** One more than the terms of the question: slots begin at 1. */
  readonly size: number
  readonly title: (page: number) => Found
  readonly body: (page: number) => Found
  /** Share of the question's neighbours that are neighbours between two indices of what was found. */
  readonly pairs: (found: Found, from: number, to: number) => number
}

/** The first index whose place is not before `place`. */
export const indexOfPlace = ({ places }: Found, place: number): number => {
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle] ?? 0) < place) low = middle + 1
    else high = middle
  }
  return low
}

const bodyField = fieldNames.indexOf("body")

/** For one question after the other: a reader is good until the next is made. */
export const createReaders = ({ numberOf, numbers, fieldStarts }: Texts) => {
  const slotOf = new Uint16Array(numberOf.size)
  let before: readonly number[] = []

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

  return (asked: Asked): Reader => {
    for (const term of before) slotOf[term] = 0
    for (const [i, term] of asked.terms.entries()) slotOf[term] = i + 1
    before = asked.terms
    const size = asked.terms.length + 1
    const wanted = new Set(asked.pairs.map(([first, second]) => (slotOf[first] ?? 0) * size + (slotOf[second] ?? 0)))
    const fieldStart = (page: number, field: number): number => fieldStarts[page * fieldNames.length + field] ?? 0
    // Pages are read for their rank first, and the best of them again for the answering line.
    const bodies = new Map<number, Found>()
    return {
      size,
      title: (page) => find(fieldStart(page, 0), fieldStart(page, 1)),
      body: (page) => {
        const found = bodies.get(page) ?? find(fieldStart(page, bodyField), fieldStart(page + 1, 0))
        bodies.set(page, found)
        return found
      },
      pairs: ({ places, slots }, from, to) => {
        if (wanted.size === 0) return 0
        const found = new Set<number>()
        for (let i = from; i + 1 < to; i++) {
          if ((places[i + 1] ?? 0) - (places[i] ?? 0) !== 1) continue
          const pair = (slots[i] ?? 0) * size + (slots[i + 1] ?? 0)
          if (wanted.has(pair)) found.add(pair)
        }
        return found.size / wanted.size
      },
    }
  }
}
