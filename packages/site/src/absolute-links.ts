import type { Links, Source } from "./links.ts"
import { type Blocks, codeLines, lineStarts } from "./markdown.ts"

// Each has the link's target in one of its groups. They run on text whose code is blanked.
const targets = [
  /\]\(\s{0,9}(?:<([^<>\n]+)>|([^\s<>()]+(?:\([^\s()]*\)[^\s()]*)?))(?=\s{0,9}\)|\s{1,9}["'(])/dg,
  /^[ \t>]{0,99}\[(?!\^)[^\]\n]{1,999}\]:[ \t]{0,9}(?:<([^<>\n]+)>|(\S+))(?=[ \t]*$|[ \t]+["'(])/dgm,
  /<[A-Za-z][\w.]*\s[^<>]{0,2000}?\b(?:href|src)\s?=\s?(?:"([^"<>]+)"|'([^'<>]+)')/dg,
]

const blank = (text: string): string => text.replaceAll(/[^\n]/g, " ")

/** A paragraph with its code spans blanked: a run of backticks ends at the next one of the same length. */
const withoutSpans = (text: string): string => {
  const runs = [...text.matchAll(/`+/g)]
  const later = new Map<number, number[]>()
  for (const { 0: run, index } of runs.toReversed()) later.getOrInsertComputed(run.length, () => []).push(index)
  let made = ""
  let end = 0
  for (const { 0: run, index } of runs) {
    if (index < end) continue
    const same = later.get(run.length) ?? []
    while ((same.at(-1) ?? Infinity) <= index) same.pop()
    const close = same.at(-1)
    if (close === undefined) continue
    made += text.slice(end, index)
    end = close + run.length
    made += blank(text.slice(index, end))
  }
  return made + text.slice(end)
}

/** The Markdown of a page with its code blanked, each character where it was. */
const withoutCode = (markdown: string, bodyStart: number, blocks: Blocks): string => {
  const body = markdown.slice(bodyStart)
  const starts = lineStarts(body)
  let made = ""
  for (const [from, to] of codeLines(blocks)) {
    const [start = body.length, end = body.length] = [starts[from], starts[to]]
    if (start < made.length) continue
    made += body.slice(made.length, start)
    made += blank(body.slice(start, end))
  }
  made += body.slice(made.length)
  return (
    blank(markdown.slice(0, bodyStart)) +
    made
      .split(/(\n[ \t]*\n)/)
      .map(withoutSpans)
      .join("")
  )
}

/** The Markdown of a page with every relative link outside of code as a whole URL: it may be read anywhere. */
export const withAbsoluteLinks = (
  { markdown, bodyStart, ...page }: Source & { readonly markdown: string; readonly bodyStart: number },
  blocks: Blocks,
  links: Links,
): string => {
  if (!/\]\(|\]:|\b(?:href|src)\s?=/.test(markdown)) return markdown
  const plain = withoutCode(markdown, bodyStart, blocks)
  const found = targets
    .flatMap((pattern) => Array.from(plain.matchAll(pattern)))
    .flatMap(({ indices = [] }) => indices.slice(1).filter((place) => place !== undefined))
    .sort(([a], [b]) => a - b)
  let made = ""
  let end = 0
  for (const [from, to] of found) {
    const url = from < end ? undefined : links.absolute(markdown.slice(from, to), page)
    if (url === undefined) continue
    made += markdown.slice(end, from) + url.replaceAll(/[()']/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
    end = to
  }
  return made + markdown.slice(end)
}
