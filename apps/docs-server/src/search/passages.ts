import { plainText } from "@svc/site"
import { eachWord, fold, type Word } from "./words.ts"

/** Kinds of passages. A mark (the line of a fence, the rule of a table, a single tag) has no content of its own. */
export const passageKinds = ["mark", "heading", "prose", "item", "row", "code"] as const
export type PassageKind = (typeof passageKinds)[number]

const kindOf = (line: string): PassageKind =>
  /^ {0,3}#{1,6}(?:\s|$)/.test(line)
    ? "heading"
    : /^\s*\|/.test(line)
      ? /^[\s:|-]+$/.test(line)
        ? "mark"
        : "row"
      : /^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(line)
        ? "item"
        : /^\s*(?::{2,}|<\/?[A-Za-z][^<>]*>\s*$|[-=*_ \t]{3,}$)/.test(line) || !/[\p{L}\p{N}]/u.test(line)
          ? "mark"
          : "prose"

/**
 * Splits text into paragraphs, single rows and items, and blocks of code, without losing anything. If the text
 * begins with a heading (`headed`), the first line is one, even an underlined one.
 */
export const passagesOf = (text: string, headed: boolean): { readonly text: string; readonly kind: PassageKind }[] => {
  const found: { text: string; kind: PassageKind }[] = []
  let fence = ""
  let open = false
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const last = found.at(-1)
    if (line.trim() === "" && last !== undefined) {
      last.text += line
      open = false
      continue
    }
    const marks = /^[\s>]*(`{3,}|~{3,})/.exec(line)?.[1] ?? ""
    let kind: PassageKind
    if (fence !== "") {
      const closes = marks.startsWith(fence) && line.trim() === marks
      if (closes) fence = ""
      kind = closes ? "mark" : "code"
    } else if (marks !== "") [fence, kind] = [marks, "mark"]
    else kind = headed && found.length === 0 ? "heading" : kindOf(line)
    const goesOn =
      open &&
      last !== undefined &&
      (kind === "prose" ? last.kind === "prose" || last.kind === "item" : kind === "code" && last.kind === "code")
    // The names of a table's columns are above its rule.
    if (kind === "mark" && last?.kind === "row" && open && line.includes("-")) last.kind = "mark"
    if (goesOn) last.text += line
    else found.push({ text: line, kind })
    open = true
  }
  return found
}

const snippetLength = 240
// How much of a long passage is parsed as Markdown, from a little before the first word of the query.
const readLength = 3000
const readBefore = 500
// A passage may be a whole page without a line break.
const mostSearched = 50_000

export const findWanted = (text: string, isWanted: (word: string) => boolean): number | undefined => {
  for (const { text: word, start } of eachWord(text.slice(0, mostSearched))) if (isWanted(word)) return start
  return undefined
}

/** Removes the bars at the ends of a table's row, and the mark of a quote. */
const withoutEdges = (text: string): string => {
  const inner = text.trim().replace(/^[|>]/, "")
  return inner.endsWith("|") ? inner.slice(0, -1) : inner
}

const cellsOf = (row: string): string[] =>
  withoutEdges(row)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())

/** A row of a table, each cell with the name of its column. @param header the row of these names */
export const withColumnNames = (row: string, header: string): string => {
  const names = cellsOf(header)
  const cells = cellsOf(row).map((cell, i) => ((names[i] ?? "") === "" || cell === "" ? cell : `${names[i]}: ${cell}`))
  return cells.join(" | ")
}

/** A passage as plain text. In code nothing is markup: a placeholder such as <API_KEY> must stay. */
export const plainOf = (passage: string, kind: PassageKind): string =>
  kind === "code" ? passage.replace(/\s+/g, " ").trim() : plainText(withoutEdges(passage))

/** Of a long passage, what is around the first word of the query. */
export const partToRead = (passage: string, isWanted: (word: string) => boolean): string => {
  if (passage.length <= readLength) return passage
  const from = Math.max(0, (findWanted(passage, isWanted) ?? 0) - readBefore)
  return passage.slice(from, from + readLength)
}

/** Whether a snippet shows the whole of a plain text. */
export const isShort = (plain: string): boolean => plain.length <= snippetLength

/** A plain text, cut to where most words of the query are. @param wanted these words, in their order */
export const snippetOf = (plain: string, wanted: readonly Word[]): string =>
  isShort(plain) ? plain : cutAround(plain, bestStart(wanted))

// Before the first word of the query, in a snippet that doesn't begin with its passage.
const lead = 60

/** Of the words of the query, the first of those that fit into one snippet and are most. */
const bestStart = (wanted: readonly Word[]): number => {
  let best = 0
  let most = 0
  for (const [i, { start }] of wanted.entries()) {
    const end = Math.max(start - lead, 0) + snippetLength
    const words = new Set<string>()
    for (let j = i; j < wanted.length; j++) {
      const { start: other, text } = wanted[j] ?? { start: end, text: "" }
      if (other + text.length > end) break
      words.add(fold(text))
    }
    if (words.size > most) [best, most] = [start, words.size]
  }
  return best
}

/** The beginning of a text, as long as a snippet may be. */
export const shorten = (plain: string): string => (isShort(plain) ? plain : cutAround(plain, 0))

const cutAround = (plain: string, first: number): string => {
  const from = Math.max(0, Math.min(first - lead, plain.length - snippetLength))
  // Cut at spaces if there are any.
  const start = from === 0 ? 0 : plain.slice(from, from + 30).search(/\s/) + 1 + from
  const cut = plain.slice(start, start + snippetLength)
  const end = start + snippetLength >= plain.length ? cut : cut.replace(/\s\S*$/, "")
  return `${start > 0 ? "…" : ""}${end}${start + snippetLength < plain.length ? "…" : ""}`
}
