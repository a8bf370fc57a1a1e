import { editDistance } from "@svc/common/edit-distance"
import { firstIndex } from "./word-index.ts"
import { fold, versionOf } from "./words.ts"

/** Letters compared so far for all words of a query. The limit keeps the cost of a query constant. */
export type Effort = { steps: number; readonly most: number }

// Another version isn't a misspelt one.
const allowedEdits = (word: string): number =>
  word.length < 4 || word.length > 40 || !/\p{L}/u.test(word) || versionOf(word) !== undefined
    ? 0
    : word.length < 8
      ? 1
      : 2

// Of the words with the same beginning, this many are compared by how often they stand in the pages.
const mostCompared = 100
const mostLike = 8
const longestLooked = 40
// What follows the shared beginning is an ending in another case, or a particle.
const longestEnding = 4

const lookedUp = (word: string): string => versionOf(word) ?? fold(word)

/** Whether a beginning is long enough to say which word is meant. A syllable of Hangul says as much as two letters. */
const isTelling = (start: string): boolean =>
  start.length >=
  (/[\p{Script=Hangul}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(start)
    ? 2
    : versionOf(start) === undefined
      ? 4
      : 3)

/** A version begins another one only with whole numbers: `1.2` begins `1.2.3` but not `1.20`. */
const isCutWell = (start: string, word: string): boolean =>
  versionOf(start) === undefined || /^[.-]?$/.test(word.charAt(start.length))

/** A bit mask of the letters in a word; all other characters share six bits. */
const lettersOf = (word: string): number => {
  let letters = 0
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i)
    letters |= 1 << (code >= 97 && code <= 122 ? code - 97 : 26 + (code % 6))
  }
  return letters
}

const bits = (number: number): number => {
  const pairs = number - ((number >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

export type Vocabulary = ReturnType<typeof createVocabulary>

/** The words of all pages as they are written. */
export const createVocabulary = (written: ReadonlyMap<string, { readonly times: number }>) => {
  const commonest = new Map<string, string>()
  const total = new Map<string, number>()
  for (const [word, { times }] of written) {
    const folded = lookedUp(word)
    const other = commonest.get(folded)
    if (other === undefined || times > (written.get(other)?.times ?? 0)) commonest.set(folded, word)
    total.set(folded, (total.get(folded) ?? 0) + times)
  }
  const all = [...commonest.keys()].sort((a, b) => a.length - b.length)
  const alphabetic = all.toSorted()
  const letters = Int32Array.from(all, lettersOf)
  const starts: number[] = []
  for (const [i, word] of all.entries()) while (starts.length <= word.length) starts.push(i)
  const startOf = (length: number) => starts[length] ?? all.length
  const byTimes = (a: string, b: string): number => (total.get(b) ?? 0) - (total.get(a) ?? 0)
  /** The most frequent words that begin like this. */
  const startingWith = (start: string): string[] => {
    const from = firstIndex(0, alphabetic.length, (i) => (alphabetic[i] ?? "") >= start)
    return alphabetic
      .slice(from, from + mostCompared)
      .filter((word) => word.startsWith(start) && isCutWell(start, word))
      .sort(byTimes)
      .slice(0, mostLike)
  }
  const asWritten = (words: readonly string[]): string[] => words.map((word) => commonest.get(word) ?? word)
  return {
    /** Known words that an unknown one is the beginning of. */
    completions: (wanted: string): readonly string[] => {
      const word = lookedUp(wanted)
      return isTelling(word) ? asWritten(startingWith(word)) : []
    },
    /** Known words that are the beginning of an unknown one, or else share most of it: the same word with another ending. */
    stems: (wanted: string): readonly string[] => {
      const word = lookedUp(wanted)
      const beginnings: string[] = []
      let others: string[] = []
      for (let length = Math.min(word.length - 1, longestLooked); length > 1; length--) {
        const start = word.slice(0, length)
        if (!isTelling(start)) break
        if (commonest.has(start) && isCutWell(start, word)) beginnings.push(start)
        else if (others.length === 0 && word.length - length <= longestEnding && 2 * length >= word.length)
          others = startingWith(start).filter((other) => other.length - length <= longestEnding)
      }
      return asWritten([...beginnings, ...others].slice(0, mostLike))
    },
    /** The known word that is most similar to an unknown one; of two, the more frequent. Undefined if none is close. */
    nearest: (wanted: string, effort: Effort): string | undefined => {
      const word = fold(wanted)
      const edits = allowedEdits(word)
      if (edits === 0) return undefined
      const own = lettersOf(word)
      let best: string | undefined
      let bestDistance = edits + 1
      for (let i = startOf(word.length - edits); i < startOf(word.length + edits + 1); i++) {
        if (effort.steps++ > effort.most) break
        // One edit changes at most two letters.
        if (bits((letters[i] ?? 0) ^ own) > 2 * Math.min(edits, bestDistance)) continue
        const candidate = all[i] ?? ""
        const far = editDistance(word, candidate, Math.min(edits, bestDistance), (steps) => (effort.steps += steps))
        // The first letter is seldom wrong: "modified" isn't a misspelt "notified", although it is only two edits away.
        const most = candidate[0] === word[0] ? edits : 1
        const better =
          far < bestDistance ||
          (far === bestDistance && best !== undefined && (total.get(candidate) ?? 0) > (total.get(best) ?? 0))
        if (far <= most && better) [best, bestDistance] = [candidate, far]
      }
      return best === undefined ? undefined : commonest.get(best)
    },
  }
}
