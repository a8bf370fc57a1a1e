import type { Word } from "./words.ts"

const letter = String.raw`\p{L}\p{N}`
// One small word may stand between the two: "path of the parameter" is as near as "path parameter".
const gap = String.raw`[^\p{L}\p{N}]{1,3}(?:(?:a|an|and|for|in|of|on|or|the|to|with)[^\p{L}\p{N}]{1,3}){0,2}`
const asciiLetter = "a-z0-9"
const asciiGap = gap.replaceAll(letter, asciiLetter)
const longestQuery = 8

const commonStart = (word: string, stem: string): string => {
  let end = 0
  while (end < stem.length && word[end] === stem[end]) end++
  return word.slice(0, Math.max(end, 2))
}

/**
 * Tells how many neighbours of a query stand side by side in a text, in any inflection: word counts alone don't see that
 * "path parameter" is one thing. The text must be in lower case.
 */
export const phraseCounter = (asked: readonly (Word & { readonly terms: readonly string[] })[]) => {
  const starts = asked
    .filter((word) => word.terms.length === 1)
    .slice(0, longestQuery)
    .map((word) => commonStart(word.text.toLowerCase(), word.terms[0] ?? "").replace(/[^\p{L}\p{N}]/gu, "."))
  const patterns = starts.slice(1).map((next, i) => {
    const first = starts[i] ?? ""
    const plain = /^[\x20-\x7E]*$/.test(first + next)
    return plain
      ? new RegExp(`${first}[a-z]*${asciiGap}${next}`)
      : new RegExp(String.raw`${first}\p{L}*${gap}${next}`, "u")
  })
  return (text: string): number =>
    patterns.filter((pattern) => pattern.test(text)).length / Math.sqrt(patterns.length || 1)
}
