import { type Field, type Texts, fieldNames } from "./text.ts"
import { early, fields, rarity, saturate } from "./weights.ts"

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
const countPages = ({ numbers, fieldStarts, numberOf }: Texts, weights: readonly number[]) => {
  const pageCount = weights.length
  const pagesOf = new Uint32Array(numberOf.size)
  const weightOf = new Float64Array(numberOf.size)
  const last = new Int32Array(numberOf.size).fill(-1)
  for (let page = 0; page < pageCount; page++)
    for (let i = fieldStarts[page * count] ?? 0; i < (fieldStarts[(page + 1) * count] ?? 0); i++) {
      const term = numbers[i] ?? 0
      if (last[term] === page) continue
      last[term] = page
      pagesOf[term] = (pagesOf[term] ?? 0) + 1
      weightOf[term] = (weightOf[term] ?? 0) + (weights[page] ?? 1)
    }
  return { pagesOf, weightOf }
}

/** The mean length of each field. */
const meanLengths = ({ fieldStarts }: Texts, pageCount: number): number[] =>
  fieldNames.map((_, field) => {
    let sum = 0
    for (let i = field; i < pageCount * count; i += count) sum += (fieldStarts[i + 1] ?? 0) - (fieldStarts[i] ?? 0)
    return Math.max(1, sum / Math.max(1, pageCount))
  })

const body = count - 1

// For a term on one page. A query reads all of them, so their number is limited.
const maxPositions = 1000

/** The pages that have each term, its positions and its value there, computed once so that a query only adds numbers. */
export const buildIndex = (texts: Texts, weights: readonly number[]) => {
  const pageCount = weights.length
  const { numbers, fieldStarts, numberOf } = texts
  const { pagesOf, weightOf } = countPages(texts, weights)
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  const rarities = Float32Array.from(weightOf, (having) => rarity(having, all))
  const means = meanLengths(texts, pageCount)
  const termStarts = new Uint32Array(numberOf.size + 1)
  for (const [term, pages] of pagesOf.entries()) termStarts[term + 1] = (termStarts[term] ?? 0) + pages
  const next = termStarts.slice()
  const size = termStarts.at(-1) ?? 0
  const pages = new Uint32Array(size)
  const worth = new Float32Array(size)
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
    const lengths = means.map((mean, field) => (startOf(field + 1) - startOf(field)) / mean)
    for (const [term, { times, at, first }] of found) {
      const posting = next[term] ?? 0
      next[term] = posting + 1
      pages[posting] = page
      let sum = 0
      for (const [field, name] of fieldNames.entries())
        if (times[field] !== 0) sum += valueOf(name, times[field] ?? 0, lengths[field] ?? 1, first)
      worth[posting] = sum
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
    worth,
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

const valueOf = (name: Field, times: number, lengths: number, first: number): number =>
  fields[name].weight * saturate(times, lengths, fields[name]) +
  (name === "body" ? (early.weight * early.half) / (early.half + first) : 0)
