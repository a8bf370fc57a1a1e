import { meant } from "./weights.ts"
import type { Effort, Vocabulary } from "./vocabulary.ts"
import { eachWord, partsOf, terms } from "./words.ts"

export type Query = ReturnType<ReturnType<typeof createQueryReader>>

// The most letters that are compared for one query.
const mostSteps = 400_000

/** A part of the query that no page has, and the most similar word that a page has. */
type Correction = { readonly start: number; readonly length: number; readonly near: string }

/** What a word of the query refers to. */
type Reading = {
  readonly isStopWord: boolean
  /** Numbers of terms with their weights. */
  readonly weights: readonly (readonly [term: number, weight: number])[]
  /** The terms that stand in its place in the query; undefined for one that no page has. */
  readonly stands: readonly (number | undefined)[]
  readonly corrections: readonly Correction[]
}

/** Reads queries. An unknown word is replaced by the most similar known one. */
export const createQueryReader = (numberOf: ReadonlyMap<string, number>, vocabulary: () => Vocabulary) => {
  const readWord = (word: string, effort: Effort): Reading => {
    const own = terms(word)
    const weights: [number, number][] = []
    const weigh = (term: string, weight: number): void => {
      const number = numberOf.get(term)
      if (number !== undefined) weights.push([number, weight])
    }
    /** An identifier counts as a whole; its parts break ties. */
    const weighWhole = ([whole = "", ...parts]: readonly string[], weight: number): void => {
      weigh(whole, weight)
      for (const part of parts) weigh(part, weight * meant.partOfKnown)
    }
    const meaning = (stands: readonly string[], corrections: readonly Correction[] = []): Reading => ({
      isStopWord: false,
      weights,
      stands: stands.map((term) => numberOf.get(term)),
      corrections,
    })

    const [whole, ...parts] = own
    if (whole === undefined) return { isStopWord: true, weights, stands: [], corrections: [] }
    if (numberOf.has(whole)) {
      weighWhole(own, meant.asWritten)
      return meaning([whole])
    }
    // An identifier that no page has, of parts that some have, means those: `session-token`.
    const ofKnown = parts.length > 0 && parts.every((part) => numberOf.has(part))
    const near = ofKnown ? undefined : vocabulary().nearest(word, effort)
    if (near !== undefined) {
      weighWhole(terms(near), meant.corrected)
      for (const part of parts) weigh(part, meant.asWritten)
      return meaning(terms(near).slice(0, 1), [{ start: 0, length: word.length, near }])
    }
    const pieces = partsOf({ text: word, start: 0 })
    if (pieces.length > 1) {
      const read = pieces.map(({ text }) => readWord(text, effort))
      return {
        isStopWord: false,
        weights: read.flatMap((piece) => piece.weights),
        stands: read.flatMap((piece) => piece.stands),
        corrections: read.flatMap((piece, i) =>
          piece.corrections.map(({ start, length, near: to }) => ({
            start: (pieces[i]?.start ?? 0) + start,
            length,
            near: to,
          })),
        ),
      }
    }
    return meaning([whole])
  }

  return (query: string, effort: Effort = { steps: 0, most: mostSteps }) => {
    const weights = new Map<number, number>()
    const weigh = (term: number, weight: number): void => {
      weights.set(term, Math.max(weights.get(term) ?? 0, weight))
    }
    const pairs: [number, number][] = []
    let corrected = query
    let searchable = false
    let before: number | undefined
    for (const { text, start } of eachWord(query)) {
      const { isStopWord, weights: own, stands, corrections } = readWord(text, effort)
      for (const [term, weight] of own) weigh(term, weight)
      searchable ||= !isStopWord
      for (const term of stands) {
        if (before !== undefined && term !== undefined) pairs.push([before, term])
        before = term
      }
      for (const { start: from, length, near } of corrections) {
        // Counted from the end, because earlier words may have been corrected.
        const end = corrected.length - (query.length - start - from - length)
        corrected = corrected.slice(0, end - length) + near + corrected.slice(end)
      }
    }
    return {
      /** The numbers of the terms, and their weights from 0 to 1. */
      terms: [...weights.keys()],
      weights: [...weights.values()],
      /** Terms that stand side by side in the query. */
      pairs,
      /** The query with each word that no page has replaced by the one that was looked up for it. */
      corrected,
      /** False if the query has only stop words. */
      searchable,
    }
  }
}
