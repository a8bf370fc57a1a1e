import { meant } from "./search-weights.ts"
import type { Effort, Vocabulary } from "./vocabulary.ts"
import { type Word, partsOf, terms, words } from "./words.ts"

/** What a question asks for, in the numbers of terms. */
export type Asked = {
  readonly terms: readonly number[]
  /** What each of them counts, from 0 to 1. */
  readonly weights: readonly number[]
  /** Terms that stand side by side in the question. */
  readonly pairs: readonly (readonly [number, number])[]
  /** The question with each word that no page has replaced by the one that was looked up for it. */
  readonly corrected: string
  /** False when the question has stop words alone. */
  readonly searchable: boolean
}

// Letters compared for one question, however long it is and whatever stands in it.
const mostSteps = 400_000
const mostCompletions = 8
const longestJoined = 20

type Correction = { readonly word: Word; readonly near: string }

/** Reads a question: known words as they are, others as the word they are nearest to or the start of. */
export const readQuery = (
  query: string,
  numberOf: ReadonlyMap<string, number>,
  vocabulary: Vocabulary,
  effort: Effort = { steps: 0, most: mostSteps },
): Asked => {
  const weights = new Map<number, number>()
  const corrections: Correction[] = []
  const pairs: [number, number][] = []
  let searchable = false
  let before: number | undefined

  const weigh = (term: string, weight: number): void => {
    const number = numberOf.get(term)
    if (number !== undefined) weights.set(number, Math.max(weights.get(number) ?? 0, weight))
  }
  /** An identifier counts as a whole; its parts break ties. */
  const weighWhole = ([whole = "", ...parts]: readonly string[], weight: number): void => {
    weigh(whole, weight)
    for (const part of parts) weigh(part, weight * meant.partOfKnown)
  }
  const correct = (word: Word): string | undefined => {
    const near = vocabulary.nearest(word.text, effort)
    if (near !== undefined) corrections.push({ word, near })
    return near
  }
  /** `timed out` means the `timeout` of pages that write it so, too. */
  const weighJoined = (first: Word, second: Word): void => {
    const [start, ...parts] = terms(first.text)
    if (start !== undefined && parts.length === 0) weigh(terms(start + second.text)[0] ?? "", meant.joined)
  }
  /** `backup` means the `back` and `up` of pages that write it so. */
  const halvesOf = ({ text }: Word): readonly string[] => {
    if (text.length > longestJoined || !/^\p{L}+$/u.test(text)) return []
    for (let at = text.length - 2; at >= 3; at--) {
      const halves = [text.slice(0, at), text.slice(at)].map((half) => terms(half)[0] ?? "")
      if (halves.every((half) => numberOf.has(half))) return halves
    }
    return []
  }
  /** Weighs what a word means, and gives the terms that stand in its place in the question. */
  const mean = (word: Word, isPart: boolean): readonly string[] => {
    const own = terms(word.text)
    const [whole = "", ...parts] = own
    if (numberOf.has(whole)) {
      weighWhole(own, meant.asWritten)
      return [whole]
    }
    // An identifier that no page has, of parts that some have, means those, and the longer ones that hold it: `session-token`.
    const ofKnown = parts.length > 0 && parts.every((part) => numberOf.has(part))
    const near = ofKnown ? undefined : correct(word)
    if (near !== undefined) {
      weighWhole(terms(near), meant.corrected)
      for (const part of parts) weigh(part, meant.asWritten)
      return terms(near).slice(0, 1)
    }
    if (ofKnown)
      for (const longer of vocabulary.holding(word.text, mostCompletions, effort))
        weigh(terms(longer)[0] ?? "", meant.held)
    const pieces = partsOf(word)
    if (pieces.length > 1) return pieces.flatMap((piece) => mean(piece, true))
    const halves = halvesOf(word)
    for (const half of halves) weigh(half, meant.asWritten)
    if (halves.length > 0) return halves
    if (!isPart)
      for (const longer of vocabulary.startingWith(word.text, mostCompletions))
        weigh(terms(longer)[0] ?? "", meant.completed)
    return [whole]
  }

  let previous: Word | undefined
  for (const word of words(query)) {
    if (previous !== undefined) weighJoined(previous, word)
    previous = word
    if (terms(word.text).length === 0) continue
    searchable = true
    for (const term of mean(word, false)) {
      const number = numberOf.get(term)
      if (before !== undefined && number !== undefined) pairs.push([before, number])
      before = number
    }
  }
  let corrected = query
  for (const { word, near } of corrections.toSorted((a, b) => b.word.start - a.word.start))
    corrected = corrected.slice(0, word.start) + near + corrected.slice(word.start + word.text.length)
  return { terms: [...weights.keys()], weights: [...weights.values()], pairs, corrected, searchable }
}
