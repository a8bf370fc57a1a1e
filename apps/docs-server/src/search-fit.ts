import { passageKinds } from "./passages.ts"
import type { Index } from "./search-index.ts"
import { type Reader, firstFrom } from "./search-reader.ts"
import type { Texts } from "./search-text.ts"
import { bonus, saturate, section } from "./search-weights.ts"

const rowKind = passageKinds.indexOf("row")
const headingKind = passageKinds.indexOf("heading")

/**
 * What a page gains because the question's words stand together in it: side by side in its title or text, in one section,
 * in one heading. `shares`: of the question, one for each of its terms.
 */
export const createFit = (texts: Texts, { rarity, places, placeStarts, inTitle }: Index) => {
  const { numbers, pageParts, partPassages, passageTerms, passageKindsOf } = texts
  const partCount = partPassages.length - 1
  const meanLength = Math.max(1, numbers.length / Math.max(1, partCount))
  /** Where each part starts, and the end of all. */
  const partStarts = Uint32Array.from(partPassages, (passage) => passageTerms[passage] ?? 0)
  /** Where the heading of each part ends, its start when it has none, and how rare the heading's terms are together. */
  const headingEnds = partStarts.slice()
  const headingRarity = new Float64Array(partCount)
  for (let part = 0; part < partCount; part++) {
    const first = partPassages[part] ?? 0
    if (passageKindsOf[first] !== headingKind) continue
    headingEnds[part] = passageTerms[first + 1] ?? 0
    for (let place = partStarts[part] ?? 0; place < (headingEnds[part] ?? 0); place++)
      headingRarity[part] = (headingRarity[part] ?? 0) + (rarity[numbers[place] ?? 0] ?? 0)
  }

  // Of the parts of the page at hand: how much of the question is in each, and in its heading; how rare what was asked is there.
  const mostParts = pageParts.reduce((most, first, page) => Math.max(most, (pageParts[page + 1] ?? first) - first), 0)
  const covered = new Float64Array(mostParts)
  const inHeading = new Float64Array(mostParts)
  const askedRarity = new Float64Array(mostParts)

  const opensRow = (entry: number): boolean => {
    for (let i = placeStarts[entry] ?? 0; i < (placeStarts[entry + 1] ?? 0); i++) {
      const place = places[i] ?? 0
      const passage = firstFrom(passageTerms, place + 1, 0, passageTerms.length) - 1
      if (passageTerms[passage] === place && passageKindsOf[passage] === rowKind) return true
    }
    return false
  }

  /** Adds one term up, from part to part. */
  const addTerm = (entry: number, share: number, first: number): void => {
    const end = placeStarts[entry + 1] ?? 0
    let part = first
    let i = placeStarts[entry] ?? 0
    // What stands in front of the first part is the description.
    while (i < end && (places[i] ?? 0) < (partStarts[first] ?? 0)) i++
    while (i < end) {
      while ((places[i] ?? 0) >= (partStarts[part + 1] ?? 0)) part++
      const from = partStarts[part] ?? 0
      const to = partStarts[part + 1] ?? 0
      const headingEnd = headingEnds[part] ?? 0
      const at = part - first
      const start = i
      let headed = 0
      for (; i < end && (places[i] ?? to) < to; i++) if ((places[i] ?? 0) < headingEnd) headed++
      covered[at] = (covered[at] ?? 0) + share * saturate(i - start, (to - from) / meanLength, section)
      if (headed === 0) continue
      inHeading[at] = (inHeading[at] ?? 0) + share
      askedRarity[at] = (askedRarity[at] ?? 0) + headed * (rarity[numbers[places[start] ?? 0] ?? 0] ?? 0)
    }
  }

  return (reader: Reader, shares: readonly number[], page: number): number => {
    const first = pageParts[page] ?? 0
    const parts = (pageParts[page + 1] ?? 0) - first
    covered.fill(0, 0, parts)
    inHeading.fill(0, 0, parts)
    askedRarity.fill(0, 0, parts)
    let row = 0
    let ofTitle = 0
    for (let slot = 1; slot < reader.size; slot++) {
      const entry = reader.entry(slot, page)
      if (entry === undefined) continue
      ofTitle += inTitle[entry] ?? 0
      addTerm(entry, shares[slot - 1] ?? 0, first)
      if (reader.size === 2 && opensRow(entry)) row = 1
    }
    let bestSection = 0
    let bestHeading = 0
    for (let at = 0; at < parts; at++) {
      bestSection = Math.max(bestSection, covered[at] ?? 0)
      const asked = askedRarity[at] ?? 0
      // The share of the question in the heading, squared, times the share of the heading that was asked for.
      if (asked > 0)
        bestHeading = Math.max(bestHeading, (inHeading[at] ?? 0) ** 2 * (asked / (headingRarity[first + at] ?? 1)))
    }
    const titlePairs = ofTitle < 2 ? 0 : reader.titlePairs(page)
    return (
      bonus.titlePairs * titlePairs +
      bonus.pairs * Math.max(titlePairs, reader.bodyPairs(page)) +
      bonus.section * bestSection ** 2 +
      bonus.heading * bestHeading +
      bonus.row * row
    )
  }
}
