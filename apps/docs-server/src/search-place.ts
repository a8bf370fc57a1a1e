import { type PassageKind, passageKinds } from "./passages.ts"
import type { Reader } from "./search-reader.ts"
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
    const { places, slots } = body
    // Parts and passages are gone through in their order: what was found in one ends where the next begins.
    const indexOf = (place: number, low: number): number => {
      let i = low
      while (i < places.length && (places[i] ?? 0) < place) i++
      return i
    }
    // The latest round in which a slot was met, so that each counts once in it.
    const met = new Uint32Array(size)
    let round = 0

    /** What each term says about which of the parts is meant: the more parts have it, the less. Together 1. */
    const tellingTerms = (): number[] => {
      const having = new Uint32Array(size)
      let i = indexOf(partStart(from), 0)
      for (let part = from; part < to; part++) {
        round++
        for (const end = indexOf(partStart(part + 1), i); i < end; i++) {
          const slot = slots[i] ?? 0
          if (met[slot] !== round) having[slot] = (having[slot] ?? 0) + 1
          met[slot] = round
        }
      }
      const ofTitle = reader.title(page).slots
      const values = [0, ...shares].map((share, slot) => {
        const parts = having[slot] ?? 0
        if (parts === 0) return 0
        return share * Math.log(1 + (to - from) / parts) * (ofTitle.includes(slot) ? section.ofTitle : 1)
      })
      const sum = values.reduce((all, value) => all + value, 0)
      return sum === 0 ? values : values.map((value) => value / sum)
    }
    const telling = tellingTerms()
    const tellingOf = (start: number, end: number): number => {
      round++
      let sum = 0
      for (let i = start; i < end; i++) {
        const slot = slots[i] ?? 0
        if (met[slot] !== round) sum += telling[slot] ?? 0
        met[slot] = round
      }
      return sum
    }

    /** Of a heading of so many terms, of which those between two indices were asked for. */
    const headingValue = (terms: number, start: number, end: number): number => {
      const said = tellingOf(start, end)
      if (said === 0) return 0
      const share = said / (said + (terms - (end - start)) * section.otherWord)
      return said + section.headingCover * share ** 2 + section.pairs * reader.pairs(body, start, end)
    }
    /** Of a line that begins at a place, of which what stands between two indices was asked for. */
    const lineValue = (kind: PassageKind, place: number, start: number, end: number, opensPart: boolean): number => {
      const first = opensPart && kind === "prose" ? line.firstProse : 0
      if (start === end) return first
      const opens = (kind === "row" || kind === "item") && (places[start] ?? 0) < place + 3
      const opening = opens ? (size === 2 ? line.openingAlone : line.opening) : 0
      return tellingOf(start, end) * line.kind[kind] + line.pairs * reader.pairs(body, start, end) + opening + first
    }

    let best: Place = { part: 0, passage: undefined }
    let bestScore = -1
    let partEnd = indexOf(partStart(from), 0)
    for (let part = from; part < to; part++) {
      const partBegin = partEnd
      partEnd = indexOf(partStart(part + 1), partBegin)
      // A page found by its title or path alone is meant as a whole.
      if (partBegin === partEnd) continue
      const first = partPassages[part] ?? 0
      const times = new Float64Array(size)
      let heading = 0
      let passage: number | undefined
      let bestLine = 0
      let end = partBegin
      for (let one = first; one < (partPassages[part + 1] ?? 0); one++) {
        const kind = passageKinds[passageKindsOf[one] ?? 0] ?? "mark"
        const place = passageTerms[one] ?? 0
        const nextPlace = passageTerms[one + 1] ?? 0
        const start = end
        end = indexOf(nextPlace, start)
        for (let i = start; i < end; i++) {
          const slot = slots[i] ?? 0
          times[slot] = (times[slot] ?? 0) + (kind === "code" ? section.code : 1)
        }
        if (kind === "mark") continue
        // The page's own title says nothing about which of its sections fits.
        if (kind === "heading")
          heading += one === first && part > from + 1 ? headingValue(nextPlace - place, start, end) : 0
        else {
          const value = lineValue(kind, place, start, end, one === first + 1)
          if (passage === undefined || value > bestLine) {
            passage = one
            bestLine = value
          }
        }
      }
      let words = 0
      for (let slot = 1; slot < size; slot++)
        words += (telling[slot] ?? 0) * saturate(times[slot] ?? 0, 1, { half: section.halfOfWords, length: 0 })
      const score =
        section.words * words +
        section.heading * heading +
        section.line * bestLine +
        section.pairs * reader.pairs(body, partBegin, partEnd)
      if (score > bestScore && (part > from || passage !== undefined)) {
        best = { part: part - from, passage }
        bestScore = score
      }
    }
    return best
  }
}
