/** How many columns a text takes on a terminal, if each character takes one. */
export const widthOf = (text: string): number => Array.from(text).length

/** Where to break a word that is too long: after a separator in its second half, else where the room ends. */
const breakAt = (characters: readonly string[], width: number): number => {
  const separator = characters.slice(0, width).findLastIndex((character) => "/:._-,".includes(character)) + 1
  return separator > width / 2 ? separator : width
}

/** A text as lines of at most `width` columns, broken between words; only a word that is longer is broken itself. */
export const wrap = (text: string, width: number): string[] => {
  if (text.length <= width) return [text]
  const lines: string[] = []
  let line = ""
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`
    if (widthOf(joined) <= width) {
      line = joined
      continue
    }
    if (line !== "") lines.push(line)
    const characters = Array.from(word)
    while (characters.length > width) lines.push(characters.splice(0, breakAt(characters, width)).join(""))
    line = characters.join("")
  }
  return [...lines, line]
}

/** Wraps a text whose first line begins with `label`; further lines start below the text. */
export const hang = (label: string, text: string, width = Infinity): string => {
  const indent = widthOf(label)
  const room = Math.max(width - indent, 10)
  return (label + wrap(text, room).join(`\n${" ".repeat(indent)}`)).trimEnd()
}
