import { passageKinds } from "./passages.ts"
import type { Reader } from "./search-reader.ts"
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

  return (reader: Reader, shares: readonly number[], page: number): number => {
    const { size, slotAt } = reader
    const times = new Uint32Array(size)
    let best = 0
    let bestHeading = 0
    let row = 0
    const first = pageParts[page] ?? 0
    for (let part = first; part < (pageParts[page + 1] ?? 0); part++) {
      const [from, to] = reader.part(part)
      let any = false
      for (let place = from; place < to; place++) {
        const slot = slotAt(place)
        if (slot === 0) continue
        any = true
        times[slot] = (times[slot] ?? 0) + 1
      }
      if (!any) continue
      if (size === 2 && opensRow(reader, part)) row = 1
      let covered = 0
      for (let slot = 1; slot < size; slot++)
        covered += (shares[slot - 1] ?? 0) * saturate(times[slot] ?? 0, (to - from) / meanLength, section)
      best = Math.max(best, covered)
      times.fill(0)
      const passage = partPassages[part] ?? 0
      if (passageKindsOf[passage] === headingKind)
        bestHeading = Math.max(bestHeading, headingFit(reader, shares, from, passageTerms[passage + 1] ?? 0))
    }
    const titlePairs = reader.pairsIn(...reader.title(page))
    return (
      bonus.titlePairs * titlePairs +
      bonus.pairs * Math.max(titlePairs, reader.pairsIn(...reader.body(page))) +
      bonus.section * best ** 2 +
      bonus.heading * bestHeading +
      bonus.row * row
    )
  }

  function opensRow({ slotAt }: Reader, part: number): boolean {
    for (let passage = partPassages[part] ?? 0; passage < (partPassages[part + 1] ?? 0); passage++)
      if (passageKindsOf[passage] === rowKind && slotAt(passageTerms[passage] ?? 0) > 0) return true
    return false
  }

  function headingFit({ slotAt, size }: Reader, shares: readonly number[], from: number, to: number): number {
    const seen = new Uint8Array(size)
    let all = 0
    let asked = 0
    let ofQuestion = 0
    for (let place = from; place < to; place++) {
      const slot = slotAt(place)
      const value = rarity[numbers[place] ?? 0] ?? 0
      all += value
      if (slot === 0) continue
      asked += value
      if (seen[slot] === 0) ofQuestion += shares[slot - 1] ?? 0
      seen[slot] = 1
    }
    return all === 0 ? 0 : ofQuestion ** 2 * (asked / all)
  }
}
