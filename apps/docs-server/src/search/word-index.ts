import { type Texts, fieldNames } from "./text.ts"
import { bodyBy, half, rarity, saturate, weights } from "./weights.ts"

/** Binary search: the first index from `low` to `high` for which `fits` is true, as it is for all later ones; else `high`. */
export const firstIndex = (low: number, high: number, fits: (index: number) => boolean): number => {
  let from = low
  let to = high
  while (from < to) {
    const middle = (from + to) >> 1
    if (fits(middle)) to = middle
    else from = middle + 1
  }
  return from
}

export type Index = ReturnType<typeof buildIndex>

const count = fieldNames.length

/** The number of pages that have each term, and the sum of these pages' weights. */
const countPages = ({ numbers, fieldStarts, numberOf }: Texts, pageWeights: readonly number[]) => {
  const pageCount = pageWeights.length
  const pagesOf = new Uint32Array(numberOf.size)
  const weightOf = new Float64Array(numberOf.size)
  const last = new Int32Array(numberOf.size).fill(-1)
  for (let page = 0; page < pageCount; page++)
    for (let i = fieldStarts[page * count] ?? 0; i < (fieldStarts[(page + 1) * count] ?? 0); i++) {
      const term = numbers[i] ?? 0
      if (last[term] === page) continue
      last[term] = page
      pagesOf[term] = (pagesOf[term] ?? 0) + 1
      weightOf[term] = (weightOf[term] ?? 0) + (pageWeights[page] ?? 1)
    }
  return { pagesOf, weightOf }
}

const body = count - 1

// For a term on one page. A query reads all of them, so their number is limited.
const maxPositions = 1000

/** The pages that have each term, its positions and its value there, computed once so that a query only adds numbers. */
export const buildIndex = (texts: Texts, pageWeights: readonly number[]) => {
  const pageCount = pageWeights.length
  const { numbers, fieldStarts, numberOf } = texts
  const { pagesOf, weightOf } = countPages(texts, pageWeights)
  const all = pageWeights.reduce((sum, weight) => sum + weight, 0)
  const rarities = Float32Array.from(weightOf, (having) => rarity(having, all))
  const lengthOf = (page: number): number =>
    (fieldStarts[(page + 1) * count] ?? 0) - (fieldStarts[page * count + body] ?? 0)
  const lengths = Float64Array.from({ length: pageCount }, (_, page) => lengthOf(page))
  const meanLength = Math.max(1, lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, pageCount))
  const termStarts = new Uint32Array(numberOf.size + 1)
  for (const [term, pages] of pagesOf.entries()) termStarts[term + 1] = (termStarts[term] ?? 0) + pages
  const next = termStarts.slice()
  const size = termStarts.at(-1) ?? 0
  const pages = new Uint32Array(size)
  const worth = new Float32Array(size)
  const about = new Float32Array(size)
  const inTitle = new Uint8Array(size)
  const positionStarts = new Uint32Array(size)
  const positionEnds = new Uint32Array(size)
  const positions: number[] = []
  const titleRarity = new Float32Array(pageCount)

  for (let page = 0; page < pageCount; page++) {
    const startOf = (field: number): number => fieldStarts[page * count + field] ?? 0
    /** Of each term: its occurrences in each field, its positions in title and body, and the first one in the body. */
    const found = new Map<number, { readonly times: number[]; readonly at: number[]; first: number }>()
    for (let field = 0; field < count; field++)
      for (let i = startOf(field); i < startOf(field + 1); i++) {
        const term = numbers[i] ?? 0
        let one = found.get(term)
        if (one === undefined) found.set(term, (one = { times: fieldNames.map(() => 0), at: [], first: -1 }))
        one.times[field] = (one.times[field] ?? 0) + 1
        if (field === body && one.first === -1) one.first = i - startOf(body)
        if ((field === 0 || field === body) && one.at.length < maxPositions) one.at.push(i)
      }
    const length = (lengths[page] ?? 0) / meanLength
    for (const [term, { times, at, first }] of found) {
      const posting = next[term] ?? 0
      next[term] = posting + 1
      pages[posting] = page
      const [inItsTitle = 0, inPath = 0, inNames = 0, inBody = 0] = times
      const isNamed = inItsTitle + inPath > 0
      about[posting] = isNamed ? 1 : first === -1 ? 0 : half.position / (half.position + first)
      worth[posting] =
        (isNamed ? weights.name : 0) +
        (inNames > 0 ? weights.tableName : 0) +
        weights.body * saturate(inBody, length, bodyBy)
      positionStarts[posting] = positions.length
      for (const position of at) positions.push(position)
      positionEnds[posting] = positions.length
      if (times[0] === 0) continue
      inTitle[posting] = 1
      titleRarity[page] = (titleRarity[page] ?? 0) + (rarities[term] ?? 0)
    }
  }
  /** A term's posting for a page; undefined if the page doesn't have the term. */
  const postingOf = (term: number, page: number): number | undefined => {
    const end = termStarts[term + 1] ?? 0
    const at = firstIndex(termStarts[term] ?? 0, end, (i) => (pages[i] ?? 0) >= page)
    return at < end && pages[at] === page ? at : undefined
  }
  return {
    postingOf,
    /** Where each term's postings start, with the end of all as the last element. */
    termStarts,
    pages,
    /** By posting: what it adds to its page's score, and how much the page is about it, 0 to 1. */
    worth,
    about,
    /** By page: the number of terms in its body. */
    lengths,
    inTitle,
    /** Where each posting's positions start and end in `positions`. */
    positionStarts,
    positionEnds,
    /** Positions of terms in titles and bodies, ascending: at most a thousand for each posting. */
    positions: Uint32Array.from(positions),
    /** By term. */
    rarity: rarities,
    /** By page: the sum of the rarities of its title's terms. */
    titleRarity,
  }
}
