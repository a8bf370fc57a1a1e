// Text that others wrote is data at every place where it leaves us. What is left to a destination is its own markup.

// They reorder or hide what stands beside them, or spell a text that only programs read. Joiners and variation selectors stay where
// scripts and emoji have them.
const unseen = new RegExp(
  [
    /(?![\u200c\u200d\p{Variation_Selector}])\p{Default_Ignorable_Code_Point}/u,
    /[\u2028-\u202e\ufff9-\ufffb]/u,
    /(?<![\p{Emoji}\p{Script=Han}\p{Script=Mongolian}])\p{Variation_Selector}/u,
    /(?<=[\p{ASCII}\u200c\u200d]|[\u200c\u200d]\p{Variation_Selector})[\u200c\u200d]/u,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gu",
)

/** Text without characters that reorder a line or can't be seen. */
export const withoutUnseen = (text: string): string => text.replaceAll(unseen, "")

/** Text as one line: control characters, which can steer a terminal, become spaces. */
export const oneLine = (text: string): string => withoutUnseen(text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")).trim()

/** A word of a shell command. What can't be seen would run or hide a part of it when it is pasted, so it is escaped. */
export const shellWord = (word: string): string => {
  if (/^[\w./:@-]+$/.test(word)) return word
  if (oneLine(word) === word.trim()) return `'${word.replaceAll("'", String.raw`'\''`)}'`
  const parts = Array.from(word, (sign) => {
    if (/[\\']/.test(sign)) return `\\${sign}`
    return oneLine(`a${sign}b`) === `a${sign}b`
      ? sign
      : `\\U${(sign.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`
  })
  return `$'${parts.join("")}'`
}

const escaped = (text: string): string =>
  text
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("")

/** JSON that reads the same and shows all of its characters. JSON itself escapes only the first 32. */
export const visibleJson = (json: string): string =>
  json.replaceAll(/[\u007f-\u009f]/g, escaped).replaceAll(unseen, escaped)
