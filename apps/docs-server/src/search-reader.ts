import type { Asked } from "./search-query.ts"
import { type Texts, fieldNames } from "./search-text.ts"

/** A question laid over the texts: which of its terms stand where, and which of them side by side. */
export type Reader = {
  /** One more than the terms of the question: 0 stands for all others. */
  readonly size: number
  /** The term of the question at a place of the texts, from 1; 0 for any other. */
  readonly slotAt: (place: number) => number
  /** Share of the question's neighbours that are neighbours between two places. */
  readonly pairsIn: (from: number, to: number) => number
  readonly title: (page: number) => readonly [from: number, to: number]
  readonly body: (page: number) => readonly [from: number, to: number]
  readonly part: (part: number) => readonly [from: number, to: number]
}

const bodyField = fieldNames.indexOf("body")

/** For one question after the other. A reader is good until the next is asked for. */
export const createReaders = ({ numberOf, numbers, fieldStarts, partPassages, passageTerms }: Texts) => {
  const slots = new Uint16Array(numberOf.size)
  let before: readonly number[] = []

  return (asked: Asked): Reader => {
    for (const term of before) slots[term] = 0
    for (const [i, term] of asked.terms.entries()) slots[term] = i + 1
    before = asked.terms
    const size = asked.terms.length + 1
    const keys = new Set(asked.pairs.map(([first, second]) => (slots[first] ?? 0) * size + (slots[second] ?? 0)))
    const slotAt = (place: number): number => slots[numbers[place] ?? 0] ?? 0
    const fieldStart = (page: number, field: number): number => fieldStarts[page * fieldNames.length + field] ?? 0
    const partStart = (part: number): number => passageTerms[partPassages[part] ?? 0] ?? 0
    return {
      size,
      slotAt,
      pairsIn: (from, to) => {
        if (keys.size === 0) return 0
        const found = new Set<number>()
        let last = slotAt(from)
        for (let place = from + 1; place < to; place++) {
          const slot = slotAt(place)
          if (last > 0 && slot > 0 && keys.has(last * size + slot)) found.add(last * size + slot)
          last = slot
        }
        return found.size / keys.size
      },
      title: (page) => [fieldStart(page, 0), fieldStart(page, 1)],
      body: (page) => [fieldStart(page, bodyField), fieldStart(page + 1, 0)],
      part: (part) => [partStart(part), partStart(part + 1)],
    }
  }
}
