import { editDistance } from "@svc/common/edit-distance"

/** Edits between two names, upper and lower case alike. */
const distance = (left: string, right: string): number => editDistance(left.toLowerCase(), right.toLowerCase())

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
