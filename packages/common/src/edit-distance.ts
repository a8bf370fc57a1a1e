/**
 * The number of edits (insert, delete, replace, swap of neighbours) between two texts, in UTF-16 units and with case.
 * Anything over `limit` is `limit + 1`, which costs less. `onSteps` is called for each row of comparisons.
 */
export const editDistance = (
  a: string,
  b: string,
  limit = Number.POSITIVE_INFINITY,
  onSteps?: (steps: number) => void,
): number => {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    let least = i
    onSteps?.(b.length)
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
  return Math.min(row[b.length] ?? 0, limit + 1)
}
