import type { Page } from "../corpus/corpus.ts"
import { fold, versionOf } from "./words.ts"

/** How well a query names each page: higher is better. Pages that it doesn't name are missing. */
export type Named = ReadonlyMap<number, number>

type Operation = { readonly method: string; readonly segments: readonly string[] }

const whole = 4
const begun = 3
const anywhere = 2
/** Deductions: the path's beginning is missing; a segment fills a parameter; a segment hasn't been typed yet. */
const less = { tail: 0.5, parameter: 0.1, missing: 0.01 } as const

// A page that is worse than the best match by more than this isn't meant.
const furthest = 1

// A longer query is a question, not a name.
const longestName = 200

const segmentsOf = (path: string): string[] =>
  path
    .toLowerCase()
    .split("/")
    .filter((segment) => segment !== "")

/** The operation that a reference page describes: the line below its title is `METHOD URL` in code style. */
const operationOf = ({ markdown, bodyStart }: Page): Operation | undefined => {
  const opening = markdown.slice(bodyStart, bodyStart + 1000)
  const [, method, path] = /^`([A-Z]{3,7}) [^/`\s]*(?:\/\/[^/`\s]+)?(\/[^`\s]*)`$/m.exec(opening) ?? []
  return method === undefined || path === undefined
    ? undefined
    : { method: method.toLowerCase(), segments: segmentsOf(path) }
}

const readOperation = (query: string): Operation | undefined => {
  const [, method = "", path] = /^(?:([a-z]{1,7})\s+)?(?:https?:\/\/[^/\s]*)?([^\s?#]+)(?:[?#]\S*)?$/i.exec(query) ?? []
  if (path?.includes("/") !== true) return undefined
  return { method: method.toLowerCase(), segments: segmentsOf(path.replaceAll(/:(\w+)/g, "{$1}")) }
}

/** Whether a typed segment can stand for one with a parameter: `{id}`, `{slug}.md`. */
const fills = (typed: string, segment: string): boolean =>
  segment.startsWith("{") && typed.endsWith(segment.slice(segment.indexOf("}") + 1))

/** How well the typed segments match an operation's segments from index `at` on. The last one may be incomplete. */
const fit = (typed: readonly string[], own: readonly string[], at: number): number => {
  const missing = own.length - at - typed.length
  if (missing < 0) return 0
  let value = at === 0 ? whole : whole - less.tail
  let finished = missing === 0
  // A parameter accepts any text, so a match of parameters alone doesn't identify an operation.
  let isKnown = at === 0
  for (const [i, segment] of typed.entries()) {
    const known = own[at + i] ?? ""
    if (known === segment) isKnown = true
    else if (fills(segment, known)) value -= less.parameter / (known.endsWith("}") ? 1 : 2)
    else if (i === typed.length - 1 && known.startsWith(segment)) {
      isKnown = true
      finished = false
    } else return 0
  }
  if (!isKnown) return 0
  return finished ? value : value - (whole - begun) - missing * less.missing
}

const operationValue = (typed: Operation, { method, segments }: Operation): number => {
  if (!method.startsWith(typed.method)) return 0
  if (typed.segments.length === 0) return segments.length === 0 ? whole : 0
  return Math.max(...segments.map((_, at) => fit(typed.segments, segments, at)), 0)
}

const namePattern = /\bv?\d+(?:\.\d+)+(?:[.-]\w+)*|[\p{L}\p{N}]+(?:(?<=\p{L})[+#]+(?![\p{L}\p{N}]))?/gu

const spaced = (text: string): string =>
  (fold(text).match(namePattern) ?? []).map((word) => ` ${versionOf(word) ?? word}`).join("")

/** @param apart the single words, if they may be anywhere in the title */
const titleValue = (typed: string, apart: readonly string[] | undefined, title: string): number => {
  if (title.startsWith(typed)) return title.length === typed.length ? whole : begun
  return apart?.every((word) => title.includes(word)) === true ? anywhere : 0
}

/** Finds the pages that a query names by the method and path of an operation, or by the title. The end of either may be missing. */
export const createNames = (pages: readonly Page[]) => {
  const operations = pages.map(operationOf)
  const titles = pages.map(({ title }) => spaced(title))
  const slugs = pages.map(({ slug }) => spaced(slug.slice(slug.lastIndexOf("/") + 1)))
  // Publishers choose the names of stacks: one that is several words can be a question that a guide answers.
  const written = pages.map(({ title, searchWeight = 1 }) =>
    searchWeight < 1 && /^\S+-\S+$/.test(title) ? ` ${fold(title)}` : undefined,
  )
  return (query: string): Named => {
    const named = new Map<number, number>()
    const text = query.trim()
    if (text.length < 2 || text.length > longestName) return named
    const typed = readOperation(text)
    const words = spaced(text)
    const asWritten = ` ${fold(text)}`
    const all = words.split(/(?= )/)
    const apart = all.length <= 2 ? all : undefined
    const ofTitle = (page: number): number => {
      if (words === "") return 0
      const name = written[page]
      if (name !== undefined) return titleValue(asWritten, undefined, name)
      return Math.max(titleValue(words, apart, titles[page] ?? ""), titleValue(words, apart, slugs[page] ?? ""))
    }
    for (const [page, { searchWeight = 1 }] of pages.entries()) {
      const own = operations[page]
      const byOperation = own === undefined || typed === undefined ? 0 : operationValue(typed, own)
      const byTitle = ofTitle(page)
      // Pages with a low weight often share a word or two in the middle of their titles, so such a match isn't enough for them.
      const isLittle = searchWeight < 1 && byTitle <= (all.length === 1 ? begun : anywhere)
      const value = Math.max(byOperation, isLittle ? byTitle - anywhere : byTitle)
      if (value > 0) named.set(page, value)
    }
    const least = Math.max(...named.values()) - furthest
    return new Map([...named].filter(([, value]) => value >= least))
  }
}
