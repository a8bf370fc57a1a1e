import { meant } from "./weights.ts"
import type { Effort, Vocabulary } from "./vocabulary.ts"
import { eachWord, isAscii, partsOf, terms, versionOf } from "./words.ts"

export type Query = ReturnType<ReturnType<typeof createQueryReader>>

// The most letters that are compared for one query.
const mostSteps = 400_000

/** A part of the query that no page has, and the most similar word that a page has. */
type Correction = { readonly start: number; readonly length: number; readonly near: string }

/** What a word of the query refers to. */
type Reading = {
  readonly isStopWord: boolean
  readonly weights: readonly (readonly [term: number, weight: number])[]
  /** Terms that stand for the same word: a page counts with the first of them that it has. */
  readonly alike: readonly (readonly number[])[]
  /** The terms that stand in its place in the query; undefined for one that no page has. */
  readonly stands: readonly (number | undefined)[]
  readonly corrections: readonly Correction[]
}

/** Reads queries. A word that no page has is replaced by the most similar one that a page has, or by those with the same beginning. */
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
    const alike: number[][] = []
    const meaning = (stands: readonly string[], corrections: readonly Correction[] = []): Reading => ({
      isStopWord: false,
      weights,
      alike,
      stands: stands.map((term) => numberOf.get(term)),
      corrections,
    })

    const [whole, ...parts] = own
    if (whole === undefined) return { isStopWord: true, weights, alike, stands: [], corrections: [] }
    if (numberOf.has(whole)) {
      weighWhole(own, meant.asWritten)
      return meaning([whole])
    }
    const readAs = (words: readonly string[]): Reading | undefined => {
      const wholes = new Set(words.flatMap((one) => terms(one).slice(0, 1)))
      for (const term of wholes) weigh(term, meant.sameBeginning)
      if (weights.length === 0) return undefined
      alike.push(weights.map(([term]) => term))
      for (const part of parts) weigh(part, meant.asWritten)
      return meaning([...wholes].slice(0, 1))
    }
    const read =
      readAs(vocabulary().completions(word)) ?? (isAscii(word) ? undefined : readAs(vocabulary().stems(word)))
    if (read !== undefined) return read
    // An identifier that no page has, of parts that some have, means those: `session-token`.
    const ofKnown = parts.length > 0 && parts.every((part) => numberOf.has(part))
    const near = ofKnown ? undefined : vocabulary().nearest(word, effort)
    if (near !== undefined) {
      weighWhole(terms(near), meant.corrected)
      for (const part of parts) weigh(part, meant.asWritten)
      return meaning(terms(near).slice(0, 1), [{ start: 0, length: word.length, near }])
    }
    const pieces = partsOf(word)
    if (pieces.length > 1 - Math.sign(parts.length) && versionOf(word) === undefined) {
      const ofPieces = pieces.map(({ text }) => readWord(text, effort))
      return {
        isStopWord: false,
        weights: ofPieces.flatMap((piece) => piece.weights),
        alike: ofPieces.flatMap((piece) => piece.alike),
        stands: ofPieces.flatMap((piece) => piece.stands),
        corrections: ofPieces.flatMap((piece, i) =>
          piece.corrections.map(({ start, length, near: to }) => ({
            start: (pieces[i]?.start ?? 0) + start,
            length,
            near: to,
          })),
        ),
      }
    }
    return readAs(vocabulary().stems(word)) ?? meaning([whole])
  }

  return (query: string, effort: Effort = { steps: 0, most: mostSteps }) => {
    const weights = new Map<number, number>()
    const first = new Map<number, number>()
    const pairs: [number, number][] = []
    let corrected = query
    let searchable = false
    let before: number | undefined
    for (const { text, start } of eachWord(query)) {
      const { isStopWord, weights: own, alike, stands, corrections } = readWord(text, effort)
      for (const group of alike)
        for (const term of group)
          if (!weights.has(term)) first.set(term, group.find((one) => !weights.has(one)) ?? term)
      for (const [term, weight] of own) weights.set(term, Math.max(weights.get(term) ?? 0, weight))
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
    const all = [...weights.keys()]
    return {
      /** The numbers of the terms, and their weights from 0 to 1. */
      terms: all,
      weights: [...weights.values()],
      /** For each term the first one of those that stand for the same word, counted from the query's first term. */
      firstAlike: all.map((term, n) => (first.has(term) ? all.indexOf(first.get(term) ?? term) : n)),
      /** Terms that stand side by side in the query. */
      pairs,
      /** The query with each word that no page has replaced by the one that was looked up for it. */
      corrected,
      /** False if the query has only stop words. */
      searchable,
    }
  }
}
