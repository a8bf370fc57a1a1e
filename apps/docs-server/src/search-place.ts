import { type PassageKind, passageKinds } from "./passages.ts"
import { type Reader, indexOfPlace } from "./search-reader.ts"
import type { Texts } from "./search-text.ts"
import { line, saturate, section } from "./search-weights.ts"

/** Where in a page the answer stands: a part, counted from the page's first, and the passage in it that says it. */
export type Place = { readonly part: number; readonly passage: number | undefined }

/** Finds the part of a page that answers, by its words, its heading and its best line. */
export const createPlaces = ({ pageParts, partPassages, passageTerms, passageKindsOf }: Texts) => {
  const partStart = (part: number): number => passageTerms[partPassages[part] ?? 0] ?? 0

  return (reader: Reader, shares: readonly number[], page: number): Place => {
    const { size } = reader
    const from = pageParts[page] ?? 0
    const to = pageParts[page + 1] ?? 0
    const body = reader.body(page)
    const slotsBetween = (start: number, end: number): readonly number[] =>
      body.slots.slice(indexOfPlace(body, start), indexOfPlace(body, end))
    const pairsBetween = (start: number, end: number): number =>
      reader.pairs(body, indexOfPlace(body, start), indexOfPlace(body, end))

    /** What each term says about which of the parts is meant: the more parts have it, the less. Together 1. */
    const tellingTerms = (): number[] => {
      const having = new Uint32Array(size)
      for (let part = from; part < to; part++)
        for (const slot of new Set(slotsBetween(partStart(part), partStart(part + 1))))
          having[slot] = (having[slot] ?? 0) + 1
      const ofTitle = new Set(reader.title(page).slots)
      const values = [0, ...shares].map((share, slot) => {
        const parts = having[slot] ?? 0
        return parts === 0 ? 0 : share * Math.log(1 + (to - from) / parts) * (ofTitle.has(slot) ? section.ofTitle : 1)
      })
      const sum = values.reduce((all, value) => all + value, 0)
      return sum === 0 ? values : values.map((value) => value / sum)
    }
    const telling = tellingTerms()
    const tellingOf = (slots: readonly number[]): number => {
      let sum = 0
      for (const slot of new Set(slots)) sum += telling[slot] ?? 0
      return sum
    }

    const headingValue = (slots: readonly number[], start: number, end: number): number => {
      const said = tellingOf(slots)
      if (said === 0) return 0
      const share = said / (said + (end - start - slots.length) * section.otherWord)
      return said + section.headingCover * share ** 2 + section.pairs * pairsBetween(start, end)
    }
    const lineValue = (
      kind: PassageKind,
      slots: readonly number[],
      start: number,
      end: number,
      opensPart: boolean,
    ): number => {
      const first = opensPart && kind === "prose" ? line.firstProse : 0
      if (slots.length === 0) return first
      const opens = (kind === "row" || kind === "item") && (body.places[indexOfPlace(body, start)] ?? end) < start + 3
      const opening = opens ? (size === 2 ? line.openingAlone : line.opening) : 0
      return tellingOf(slots) * line.kind[kind] + line.pairs * pairsBetween(start, end) + opening + first
    }

    let best: Place = { part: 0, passage: undefined }
    let bestScore = -1
    for (let part = from; part < to; part++) {
      // A page found by its title or path alone is meant as a whole.
      if (indexOfPlace(body, partStart(part)) === indexOfPlace(body, partStart(part + 1))) continue
      const first = partPassages[part] ?? 0
      const times = new Float64Array(size)
      let heading = 0
      let passage: number | undefined
      let bestLine = 0
      for (let one = first; one < (partPassages[part + 1] ?? 0); one++) {
        const kind = passageKinds[passageKindsOf[one] ?? 0] ?? "mark"
        const start = passageTerms[one] ?? 0
        const end = passageTerms[one + 1] ?? 0
        const slots = slotsBetween(start, end)
        for (const slot of slots) times[slot] = (times[slot] ?? 0) + (kind === "code" ? section.code : 1)
        if (kind === "mark") continue
        // The page's own title says nothing about which of its sections fits.
        if (kind === "heading") heading += one === first && part > from + 1 ? headingValue(slots, start, end) : 0
        else {
          const value = lineValue(kind, slots, start, end, one === first + 1)
          if (passage === undefined || value > bestLine) [passage, bestLine] = [one, value]
        }
      }
      let words = 0
      for (let slot = 1; slot < size; slot++)
        words += (telling[slot] ?? 0) * saturate(times[slot] ?? 0, 1, { half: section.halfOfWords, length: 0 })
      const score =
        section.words * words +
        section.heading * heading +
        section.line * bestLine +
        section.pairs * pairsBetween(partStart(part), partStart(part + 1))
      if (score > bestScore && (part > from || passage !== undefined))
        [best, bestScore] = [{ part: part - from, passage }, score]
    }
    return best
  }
}
