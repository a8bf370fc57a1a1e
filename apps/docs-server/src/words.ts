import { stemmer } from "stemmer"

/** A word of a text as written, and where it starts. */
export type Word = { readonly text: string; readonly start: number }

// Dots and dashes join an identifier's parts (`c.req.json`, `agent-account-forbidden`) but neither open nor close it.
const wordPattern = /[\p{L}\p{M}\p{N}_$]+(?:[.-][\p{L}\p{M}\p{N}_$]+)*/gu
const asciiPattern = /[A-Za-z0-9_$]+(?:[.-][A-Za-z0-9_$]+)*/g
// Scripts written without spaces are cut by dictionary.
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" })

const stopWords = new Set(
  `a about above after again all also am an and any are aren as at be because been before being below between both but by
  can cannot could couldn did didn do does doesn doing don down during each else few for from further had hadn has hasn
  have haven having he her here hers him his how i if in into is isn it its itself just ll let like may me might more most
  must mustn my no nor not now of off on once only or other our ours out over own please re same shall she should shouldn
  so some such than that the their theirs them then there these they this those through to too under until up us very
  was wasn we were weren what when where whether which while who whom whose why will with won would wouldn ve you your
  yours s t d m`.split(/\s+/),
)

export const words = (text: string): Word[] => {
  const found: Word[] = []
  // Most texts are ASCII, where the pattern without Unicode classes is several times faster.
  const pattern = /[^\s!-~]/.test(text) ? wordPattern : asciiPattern
  for (const match of text.matchAll(pattern)) {
    if (!unspaced.test(match[0])) found.push({ text: match[0], start: match.index })
    else
      for (const { segment, index, isWordLike } of segmenter.segment(match[0]))
        if (isWordLike === true) found.push({ text: segment, start: match.index + index })
  }
  return found
}

const stem = (word: string): string => (/^[a-z]{3,}$/.test(word) ? stemmer(word) : word)

// Texts repeat their words: most of the time goes into finding terms, so the last words' are kept.
const kept = new Map<string, readonly string[]>()
const keptWords = 50_000

/**
 * What a word is indexed and looked up by: its stem; an identifier by its whole and by its parts (`getBlockHeight`:
 * getblockheight, get, block, height). Stop words give nothing.
 */
export const terms = (word: string): readonly string[] => {
  let found = kept.get(word)
  if (found === undefined) {
    if (kept.size >= keptWords) kept.clear()
    kept.set(word, (found = findTerms(word)))
  }
  return found
}

const findTerms = (word: string): string[] => {
  const normal = word.normalize("NFKC")
  const whole = normal.toLowerCase()
  const parts = normal
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .split(/[ ._$-]+/)
    .filter((part) => part !== "")
  if (parts.length <= 1) {
    const single = parts[0] ?? whole
    return stopWords.has(single) ? [] : [stem(single)]
  }
  return [whole, ...new Set(parts.filter((part) => part.length > 1 && !stopWords.has(part)).map(stem))]
}
