import { editDistance } from "./edit-distance.ts"

const distance = (left: string, right: string): number => editDistance(left.toLowerCase(), right.toLowerCase())

// No real name is longer, and the time to compare grows with both lengths.
const longest = 100

const ranked = (text: string, names: readonly string[]) => {
  const wanted = text.slice(0, longest)
  const rank = (name: string): number =>
    wanted !== "" && name.toLowerCase().includes(wanted.toLowerCase())
      ? Math.min(0.5, distance(wanted, name))
      : distance(wanted, name)
  return names
    .filter((name) => name.length <= longest)
    .map((name) => ({ name, rank: rank(name) }))
    .sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1))
}

/** The three names that differ least from a text, ignoring case. A name that contains the text counts as close. */
export const nearest = (text: string, names: readonly string[]): string[] =>
  ranked(text, names)
    .slice(0, 3)
    .map(({ name }) => name)

/** The name that a text is probably a slip of; undefined if none is close. */
export const closeTo = (text: string, names: readonly string[]): string | undefined => {
  const [first] = ranked(text, names)
  return first !== undefined && first.rank <= Math.max(1, text.length / 3) ? first.name : undefined
}
