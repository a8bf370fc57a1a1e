import { passageKinds } from "./passages.ts"
import { type Found, type Reader, indexOfPlace } from "./search-reader.ts"
import type { Texts } from "./search-text.ts"
import { bonus, saturate, section } from "./search-weights.ts"

const rowKind = passageKinds.indexOf("row")
const headingKind = passageKinds.indexOf("heading")

/**
 * What a page gains because the question's words stand together in it: side by side in its title or text, in one section,
 * in one heading. `shares`: of the question, one for each of its terms.
 */
export const createFit = (texts: Texts, rarity: Float32Array) => {
  const { numbers, pageParts, partPassages, passageTerms, passageKindsOf } = texts
  const meanLength = Math.max(1, numbers.length / Math.max(1, partPassages.length - 1))
  const partStart = (part: number): number => passageTerms[partPassages[part] ?? 0] ?? 0

  /** The share of the question in a heading, squared, times the share of the heading that was asked for. */
  const headingFit = ({ size }: Reader, shares: readonly number[], found: Found, from: number, to: number): number => {
    const seen = new Uint8Array(size)
    let ofQuestion = 0
    let asked = 0
    for (let i = indexOfPlace(found, from); (found.places[i] ?? to) < to; i++) {
      const slot = found.slots[i] ?? 0
      asked += rarity[numbers[found.places[i] ?? 0] ?? 0] ?? 0
      if (seen[slot] === 0) ofQuestion += shares[slot - 1] ?? 0
      seen[slot] = 1
    }
    if (asked === 0) return 0
    let all = 0
    for (let place = from; place < to; place++) all += rarity[numbers[place] ?? 0] ?? 0
    return ofQuestion ** 2 * (asked / all)
  }

  const opensRow = ({ places }: Found, part: number): boolean => {
    for (let passage = partPassages[part] ?? 0; passage < (partPassages[part + 1] ?? 0); passage++)
      if (passageKindsOf[passage] === rowKind && places.includes(passageTerms[passage] ?? 0)) return true
    return false
  }

  return (reader: Reader, shares: readonly number[], page: number): number => {
    const { size } = reader
    const title = reader.title(page)
    const body = reader.body(page)
    const times = new Uint32Array(size)
    let bestSection = 0
    let bestHeading = 0
    let row = 0
    let i = 0
    for (let part = pageParts[page] ?? 0; part < (pageParts[page + 1] ?? 0); part++) {
      const from = partStart(part)
      const to = partStart(part + 1)
      // What stands in front of the first part is the description.
      while ((body.places[i] ?? to) < from) i++
      if ((body.places[i] ?? to) >= to) continue
      times.fill(0)
      for (; (body.places[i] ?? to) < to; i++) times[body.slots[i] ?? 0] = (times[body.slots[i] ?? 0] ?? 0) + 1
      let covered = 0
      for (let slot = 1; slot < size; slot++)
        covered += (shares[slot - 1] ?? 0) * saturate(times[slot] ?? 0, (to - from) / meanLength, section)
      bestSection = Math.max(bestSection, covered)
      const first = partPassages[part] ?? 0
      if (passageKindsOf[first] === headingKind)
        bestHeading = Math.max(bestHeading, headingFit(reader, shares, body, from, passageTerms[first + 1] ?? 0))
      if (size === 2 && opensRow(body, part)) row = 1
    }
    const titlePairs = reader.pairs(title, 0, title.places.length)
    return (
      bonus.titlePairs * titlePairs +
      bonus.pairs * Math.max(titlePairs, reader.pairs(body, 0, body.places.length)) +
      bonus.section * bestSection ** 2 +
      bonus.heading * bestHeading +
      bonus.row * row
    )
  }
}
