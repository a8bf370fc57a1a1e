import { type PassageKind, passageKinds } from "./passages.ts"
import type { Reader } from "./search-reader.ts"
import type { Texts } from "./search-text.ts"
import { line, saturate, section } from "./search-weights.ts"

/** Where in a page the answer stands: a part, counted from the page's first, and the passage in it that says it. */
export type Place = { readonly part: number; readonly passage: number | undefined }

/** Finds the part of a page that answers, by its words, its heading and its best line. */
export const createPlaces = ({ pageParts, partPassages, passageTerms, passageKindsOf }: Texts) => {
  return (reader: Reader, shares: readonly number[], page: number): Place => {
    const { size, slotAt, pairsIn } = reader
    const from = pageParts[page] ?? 0
    const to = pageParts[page + 1] ?? 0

    /** What each term says about which of the parts is meant: the more parts have it, the less. Together 1. */
    const tellingTerms = (): number[] => {
      const having = new Uint32Array(size)
      for (let part = from; part < to; part++) {
        const seen = new Uint8Array(size)
        const [start, end] = reader.part(part)
        for (let at = start; at < end; at++) seen[slotAt(at)] = 1
        for (const [slot, one] of seen.entries()) having[slot] = (having[slot] ?? 0) + one
      }
      const ofTitle = new Uint8Array(size)
      const [start, end] = reader.title(page)
      for (let at = start; at < end; at++) ofTitle[slotAt(at)] = 1
      const values = [0, ...shares].map((share, slot) => {
        const parts = having[slot] ?? 0
        if (slot === 0 || parts === 0) return 0
        return share * Math.log(1 + (to - from) / parts) * (ofTitle[slot] === 1 ? section.ofTitle : 1)
      })
      const sum = values.reduce((all, value) => all + value, 0)
      return sum === 0 ? values : values.map((value) => value / sum)
    }
    const telling = tellingTerms()
    const tellingIn = (start: number, end: number): number => {
      const seen = new Uint8Array(size)
      let sum = 0
      for (let at = start; at < end; at++) {
        const slot = slotAt(at)
        if (slot > 0 && seen[slot] === 0) sum += telling[slot] ?? 0
        seen[slot] = 1
      }
      return sum
    }

    const headingValue = (start: number, end: number): number => {
      const said = tellingIn(start, end)
      if (said === 0) return 0
      let others = 0
      for (let at = start; at < end; at++) if (slotAt(at) === 0) others++
      const share = said / (said + others * section.otherWord)
      return said + section.headingCover * share ** 2 + section.pairs * pairsIn(start, end)
    }
    const lineValue = (kind: PassageKind, start: number, end: number, opensPart: boolean): number => {
      const said = tellingIn(start, end)
      if (said === 0) return opensPart ? line.firstProse : 0
      const opens = (kind === "row" || kind === "item") && slotAt(start) + slotAt(start + 1) + slotAt(start + 2) > 0
      return (
        said * line.kind[kind] +
        line.pairs * pairsIn(start, end) +
        (opens ? line.opening : 0) +
        (opensPart ? line.firstProse : 0)
      )
    }

    let best: Place = { part: 0, passage: undefined }
    let bestScore = -1
    for (let part = from; part < to; part++) {
      const first = partPassages[part] ?? 0
      const times = new Float64Array(size)
      let heading = 0
      let passage: number | undefined
      let bestLine = 0
      for (let one = first; one < (partPassages[part + 1] ?? 0); one++) {
        const kind = passageKinds[passageKindsOf[one] ?? 0] ?? "mark"
        const start = passageTerms[one] ?? 0
        const end = passageTerms[one + 1] ?? 0
        for (let at = start; at < end; at++)
          times[slotAt(at)] = (times[slotAt(at)] ?? 0) + (kind === "code" ? section.code : 1)
        if (kind === "mark") continue
        // The page's own title says nothing about which of its sections fits.
        if (kind === "heading") heading += one === first && part > from + 1 ? headingValue(start, end) : 0
        else {
          const value = lineValue(kind, start, end, kind === "prose" && one === first + 1)
          if (passage === undefined || value > bestLine) [passage, bestLine] = [one, value]
        }
      }
      const words = telling.reduce(
        (sum, value, slot) => sum + value * saturate(times[slot] ?? 0, 1, { half: section.halfOfWords, length: 0 }),
        0,
      )
      const score =
        section.words * words +
        section.heading * heading +
        section.line * bestLine +
        section.pairs * pairsIn(...reader.part(part))
      if (score > bestScore && (part > from || passage !== undefined))
        [best, bestScore] = [{ part: part - from, passage }, score]
    }
    return best
  }
}
