import { stemmer } from "stemmer"

export type Word = { readonly text: string; readonly start: number }

// Dots and dashes join an identifier's parts (`c.req.json`, `agent-account-forbidden`) but neither open nor close it.
// A comma joins thousands: `1,232` is one number. Signs after a letter belong to the word: `C++`, `F#` (in Markdown also `F\#`).
const wordPattern =
  /[0-9]{1,3}(?:,[0-9]{3})+(?![\p{L}\p{M}\p{N}_$,])|[\p{L}\p{M}\p{N}_$]+(?:[.-][\p{L}\p{M}\p{N}_$]+)*(?:(?<=\p{L})(?:\\?[+#＋＃])+(?![\p{L}_$]))?/gu
const asciiPattern =
  /[0-9]{1,3}(?:,[0-9]{3})+(?![A-Za-z0-9_$,])|[A-Za-z0-9_$]+(?:[.-][A-Za-z0-9_$]+)*(?:(?<=[A-Za-z])(?:\\?[+#])+(?![A-Za-z_$]))?/g
// Scripts without spaces are split into words by a dictionary.
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" })

const stopWords = new Set(
  `a about above all also am an and any are aren as at be because been being below both but by can could couldn did
  didn do does doesn doing don during each else few for from further had hadn has hasn have haven having he her here
  hers him his how i if in into is isn it its itself just ll let like may me might more most must mustn my now of on
  or other our ours please re shall she should shouldn so some such than that the their theirs them then there these
  they this those through to too under until us very was wasn we were weren what when where whether which while who
  whom whose why will with won would wouldn ve you your yours s t d m`.split(/\s+/),
)

export const isAscii = (text: string): boolean => !/[^\s!-~]/.test(text)

// Most texts are ASCII, for which the pattern without Unicode classes is several times faster.
const patternFor = (text: string): RegExp => (isAscii(text) ? asciiPattern : wordPattern)

const cut = (text: string): Word[] =>
  [...segmenter.segment(text)].flatMap(({ segment, index, isWordLike }) =>
    isWordLike === true ? [{ text: segment, start: index }] : [],
  )

export const eachWord = function* (text: string): Generator<Word> {
  for (const { 0: word, index } of text.matchAll(patternFor(text)))
    if (unspaced.test(word)) for (const part of cut(word)) yield { text: part.text, start: index + part.start }
    else yield { text: word, start: index }
}

/** Removes case, accents and typographic variants, so that the search ignores them. */
export const fold = (word: string): string =>
  isAscii(word)
    ? word.toLowerCase()
    : word
        .normalize("NFKD")
        .replace(/[\u0300-\u036F]/g, "")
        // The capitals of ß and ı are SS and I. Lower case writes Σ at the end of a word in another way than inside.
        .toUpperCase()
        .toLowerCase()
        .replaceAll("ς", "σ")
        .normalize("NFKC")

const stem = (word: string): string => (/^[a-z]{3,}$/.test(word) ? stemmer(word) : word)

// A Korean particle follows a Latin word without a space.
const joint =
  /[ ._$\\+#＋＃-]+|(?<=[A-Za-z0-9])(?=\p{Script=Hangul})|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
const asciiJoint = /[ ._$\\+#-]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/

/** The parts of an identifier, each where it stands: `get`, `Block` and `Height` of `getBlockHeight`. */
export const partsOf = (text: string): Word[] => {
  const parts: Word[] = []
  let at = 0
  for (const part of text.split(isAscii(text) ? asciiJoint : joint)) {
    at = text.indexOf(part, at)
    if (part !== "") parts.push({ text: part, start: at })
    at += part.length
  }
  return parts
}

const versionPattern = /^v?([0-9]+(?:\.[0-9]+)+(?:[.-][\w.-]+)?)$/i

/** A version without the `v` in front, in lower case; undefined for another word. */
export const versionOf = (word: string): string | undefined => versionPattern.exec(word)?.[1]?.toLowerCase()

/**
 * What a word is indexed and looked up by: its stem; an identifier by its whole and by its parts (`getBlockHeight`:
 * getblockheight, get, block, height); a version by its whole. Stop words give nothing.
 */
export const terms = (word: string): readonly string[] => {
  const version = versionOf(word)
  if (version !== undefined) return [version]
  const parts = partsOf(word).map(({ text }) => fold(text))
  const whole = fold(word).replaceAll("\\", "")
  const [single = whole] = parts
  if (parts.length <= 1 && !/[+#]$/.test(whole)) return stopWords.has(single) ? [] : [stem(single.replaceAll(",", ""))]
  const telling = parts.filter((part) => part.length > 1 && !stopWords.has(part))
  return [stem(whole), ...new Set(telling.map(stem))]
}
