import type { Page } from "../corpus/corpus.ts"
import { createLinkFinder, partsWithLinks } from "./links.ts"
import { passageKinds, passagesOf } from "./passages.ts"
import { eachWord, terms } from "./words.ts"

/** The fields of a page in the order in which they are read. `names` are in code style in the first cell of a table's row. */
export const fieldNames = ["title", "path", "names", "body"] as const

export type Texts = ReturnType<typeof readTexts>

/** Names in code style in the first cells of tables: error codes, variables, fields. */
const namesIn = (markdown: string): string[] =>
  [...markdown.matchAll(/^[ \t]*\|[ \t]*`([^`\n]+)`[ \t]*\|/gm)].map(([, name = ""]) => name)

type Written = {
  /** Of its terms. */
  readonly numbers: readonly number[]
  /** How often it stands in all pages. */
  times: number
}

// A query reads the texts around the links to a page, so their number and length are limited.
const mostLinks = 100
const longestAround = 120

// A longer word is data, such as an image in Base64.
const longestWord = 200

/** Reads every page once and converts it into the numbers of its terms. */
export const readTexts = (pages: readonly Page[]) => {
  const numberOf = new Map<string, number>()
  const known = new Map<string, Written>()
  const numbers: number[] = []
  const fieldStarts: number[] = []
  const pageSections: number[] = []
  const sectionPassages: number[] = []
  const passageTerms: number[] = []
  const passageStarts: number[] = []
  const kinds: number[] = []

  const look = (word: string): Written => {
    let found = known.get(word)
    if (found === undefined) {
      const own = terms(word).map((term) => {
        let number = numberOf.get(term)
        if (number === undefined) numberOf.set(term, (number = numberOf.size))
        return number
      })
      // A copy, because a slice would keep the whole page in memory.
      known.set(Buffer.from(word).toString(), (found = { numbers: own, times: 0 }))
    }
    found.times++
    return found
  }
  const add = (text: string): void => {
    for (const { text: word } of eachWord(text)) if (word.length <= longestWord) numbers.push(...look(word).numbers)
  }

  const linksOn = createLinkFinder(pages.map(({ slug }) => slug))
  const linked: number[][] = pages.map(() => [])
  const addPassage = (text: string, id: number, findLinks: ReturnType<typeof linksOn>): void => {
    const parts = partsWithLinks(text)
    if (parts === undefined) return add(text)
    for (const part of parts) {
      const start = numbers.length
      add(part)
      for (const target of findLinks(part)) {
        const around = linked[target] ?? []
        if (target !== id && around.length < 2 * mostLinks)
          around.push(start, Math.min(numbers.length, start + longestAround))
      }
    }
  }

  for (const [id, page] of pages.entries()) {
    fieldStarts.push(numbers.length)
    add(page.title)
    fieldStarts.push(numbers.length)
    add(page.slug)
    fieldStarts.push(numbers.length)
    // Only whole identifiers count as names: their parts, and names of one word, occur everywhere.
    for (const name of namesIn(page.markdown.slice(page.bodyStart)))
      for (const { text: word } of eachWord(name)) {
        const [whole, ...parts] = look(word).numbers
        if (whole !== undefined && parts.length > 0) numbers.push(whole)
      }
    fieldStarts.push(numbers.length)
    if (page.described) add(page.description)
    pageSections.push(sectionPassages.length)
    const findLinks = linksOn(page.slug)
    const bounds = [page.bodyStart, ...page.sections.map(({ start }) => start), page.markdown.length]
    for (let i = 0; i + 1 < bounds.length; i++) {
      let at = bounds[i] ?? 0
      sectionPassages.push(passageTerms.length)
      for (const { text, kind } of passagesOf(page.markdown.slice(at, bounds[i + 1]), i > 0)) {
        passageTerms.push(numbers.length)
        passageStarts.push(at)
        kinds.push(passageKinds.indexOf(kind))
        if (kind === "code") add(text)
        else addPassage(text, id, findLinks)
        at += text.length
      }
    }
  }
  for (const starts of [fieldStarts, passageTerms]) starts.push(numbers.length)
  pageSections.push(sectionPassages.length)
  sectionPassages.push(passageTerms.length - 1)
  passageStarts.push(0)
  return {
    numberOf,
    written: known,
    numbers: Uint32Array.from(numbers),
    // Each array below holds start indices, with the end of everything as the last element.
    /** Where in `numbers` each field of each page starts. */
    fieldStarts: Uint32Array.from(fieldStarts),
    /** The first section of each page; a section is a heading with the text down to the next, the first is without heading. */
    pageSections: Uint32Array.from(pageSections),
    sectionPassages: Uint32Array.from(sectionPassages),
    /** Where in `numbers` each passage starts, */
    passageTerms: Uint32Array.from(passageTerms),
    /** where in its page's Markdown, and of which kind it is. */
    passageStarts: Uint32Array.from(passageStarts),
    /** By page: where in `numbers` each text of another page that links to it starts and ends. */
    linked,
    passageKindsOf: Uint8Array.from(kinds),
  }
}
