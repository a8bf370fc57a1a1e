import { type PassageKind, passageKinds } from "./passages.ts"
import type { Found, Reader } from "./search-reader.ts"
import type { Texts } from "./search-text.ts"
import { line, saturate, section } from "./search-weights.ts"

/** Where in a page the answer stands: a part, counted from the page's first, and the passage in it that says it. */
export type Place = { readonly part: number; readonly passage: number | undefined }

// Parts and passages are gone through in their order: what was found in one ends where the next begins.
const indexOfPlace = ({ places }: Found, place: number, from: number): number => {
  let i = from
  while (i < places.length && (places[i] ?? 0) < place) i++
  return i
}

/** Finds the part of a page that answers, by its words, its heading and its best line. */
export const createPlaces = ({ pageParts, partPassages, passageTerms, passageKindsOf }: Texts) => {
  const partStart = (part: number): number => passageTerms[partPassages[part] ?? 0] ?? 0

  return (reader: Reader, shares: readonly number[]) => {
    const { size } = reader
    // Of each slot: how many parts have it, how telling it is, how often it stands in the part at hand.
    const having = new Uint32Array(size)
    const telling = new Float64Array(size)
    const times = new Float64Array(size)
    // The latest round in which a slot was met, so that each counts once in it.
    const met = new Uint32Array(size)
    let round = 0

    /** What each term says about which of the parts is meant: the more parts have it, the less. Together 1. */
    const weighTerms = (page: number, body: Found): void => {
      const from = pageParts[page] ?? 0
      const to = pageParts[page + 1] ?? 0
      having.fill(0)
      let i = indexOfPlace(body, partStart(from), 0)
      for (let part = from; part < to; part++) {
        round++
        for (const end = indexOfPlace(body, partStart(part + 1), i); i < end; i++) {
          const slot = body.slots[i] ?? 0
          if (met[slot] !== round) having[slot] = (having[slot] ?? 0) + 1
          met[slot] = round
        }
      }
      let sum = 0
      for (let slot = 1; slot < size; slot++) {
        const parts = having[slot] ?? 0
        const value = parts === 0 ? 0 : (shares[slot - 1] ?? 0) * Math.log(1 + (to - from) / parts)
        telling[slot] = reader.isInTitle(slot, page) ? value * section.ofTitle : value
        sum += telling[slot] ?? 0
      }
      if (sum > 0) for (let slot = 1; slot < size; slot++) telling[slot] = (telling[slot] ?? 0) / sum
    }
    const tellingOf = ({ slots }: Found, start: number, end: number): number => {
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
    const headingValue = (body: Found, terms: number, start: number, end: number): number => {
      const said = tellingOf(body, start, end)
      if (said === 0) return 0
      const share = said / (said + (terms - (end - start)) * section.otherWord)
      return said + section.headingCover * share ** 2 + section.pairs * reader.pairs(body, start, end)
    }
    /** Of a line that begins at a place, of which what stands between two indices was asked for. */
    const lineValue = (body: Found, kind: PassageKind, place: number, start: number, end: number): number => {
      const opens = (kind === "row" || kind === "item") && (body.places[start] ?? 0) < place + 3
      const opening = opens ? (size === 2 ? line.openingAlone : line.opening) : 0
      return tellingOf(body, start, end) * line.kind[kind] + line.pairs * reader.pairs(body, start, end) + opening
    }

    return (page: number): Place => {
      const from = pageParts[page] ?? 0
      const body = reader.body(page)
      weighTerms(page, body)
      let best: Place = { part: 0, passage: undefined }
      let bestScore = -1
      let partEnd = indexOfPlace(body, partStart(from), 0)
      for (let part = from; part < (pageParts[page + 1] ?? 0); part++) {
        const partBegin = partEnd
        partEnd = indexOfPlace(body, partStart(part + 1), partBegin)
        // A page found by its title or path alone is meant as a whole.
        if (partBegin === partEnd) continue
        const first = partPassages[part] ?? 0
        times.fill(0)
        let heading = 0
        let passage: number | undefined
        let bestLine = 0
        let end = partBegin
        for (let one = first; one < (partPassages[part + 1] ?? 0); one++) {
          const kind = passageKinds[passageKindsOf[one] ?? 0] ?? "mark"
          const place = passageTerms[one] ?? 0
          const nextPlace = passageTerms[one + 1] ?? 0
          const start = end
          end = indexOfPlace(body, nextPlace, start)
          for (let i = start; i < end; i++) {
            const slot = body.slots[i] ?? 0
            times[slot] = (times[slot] ?? 0) + (kind === "code" ? section.code : 1)
          }
          if (kind === "mark") continue
          if (kind === "heading") {
            // The page's own title says nothing about which of its sections fits.
            if (one === first && part > from + 1) heading = headingValue(body, nextPlace - place, start, end)
            continue
          }
          const asFirst = kind === "prose" && one === first + 1 ? line.firstProse : 0
          const value = asFirst + (start === end ? 0 : lineValue(body, kind, place, start, end))
          if (passage === undefined || value > bestLine) {
            passage = one
            bestLine = value
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
}
