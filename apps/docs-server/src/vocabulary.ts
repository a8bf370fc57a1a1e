/** Edit distance, a transposition counted once; anything past `limit` is `limit + 1`. */
const distance = (a: string, b: string, limit: number): number => {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1)
      next.push(cost)
      least = Math.min(least, cost)
    }
    if (least > limit) return limit + 1
    before = row
    row = next
  }
  return Math.min(row[b.length] ?? limit + 1, limit + 1)
}

const allowedEdits = (word: string): number =>
  word.length < 4 || word.length > 40 || !/\p{L}/u.test(word) ? 0 : word.length < 8 ? 1 : 2

/** The words of all pages as they are written, in lower case. */
export type Vocabulary = {
  readonly add: (word: string) => void
  /** The word that looks most like one that no page has; the commoner of two. Undefined when none is near. */
  readonly nearest: (word: string, commonness: (candidate: string) => number) => string | undefined
}

export const createVocabulary = (): Vocabulary => {
  const byLength = new Map<number, Set<string>>()
  return {
    add: (word) => {
      const same = byLength.get(word.length)
      if (same === undefined) byLength.set(word.length, new Set([word]))
      else same.add(word)
    },
    nearest: (word, commonness) => {
      const edits = allowedEdits(word)
      let best: string | undefined
      let bestDistance = edits + 1
      for (let length = word.length - edits; length <= word.length + edits; length++)
        for (const candidate of byLength.get(length) ?? []) {
          const far = distance(word, candidate, Math.min(edits, bestDistance))
          const better =
            far < bestDistance ||
            (far === bestDistance && best !== undefined && commonness(candidate) > commonness(best))
          if (far <= edits && better) [best, bestDistance] = [candidate, far]
        }
      return best
    },
  }
}
