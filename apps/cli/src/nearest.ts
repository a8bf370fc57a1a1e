/** Edits (insert, delete, replace, swap of neighbours) that make one text of the other, upper and lower case alike. */
const distance = (left: string, right: string): number => {
  const a = Array.from(left.toLowerCase())
  const b = Array.from(right.toLowerCase())
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let least = Math.min((row[j - 1] ?? 0) + 1, (last[j] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1)
      }
      row.push(least)
    }
    beforeLast = last
    last = row
  }
  return last[b.length] ?? 0
}

// No name is longer, and the distance takes time that grows with both lengths.
const longest = 100

/** The names closest to a text, closest first; a name that contains the text counts as close. */
export const nearest = (text: string, names: readonly string[], count = 3): string[] => {
  const wanted = text.slice(0, longest)
  const rank = (name: string): number =>
    wanted !== "" && name.toLowerCase().includes(wanted.toLowerCase())
      ? Math.min(0.5, distance(wanted, name))
      : distance(wanted, name)
  return names
    .filter((name) => name.length <= longest)
    .map((name) => ({ name, rank: rank(name) }))
    .sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map(({ name }) => name)
}
