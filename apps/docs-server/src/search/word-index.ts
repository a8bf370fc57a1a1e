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

const [title, path, names, body] = [0, 1, 2, 3]

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
  const isNamed = new Uint8Array(size)
  const inNames = new Uint8Array(size)
  const times = new Uint32Array(size)
  const lastPosition = new Int32Array(size).fill(-1)
  const positionBefore = new Int32Array(numbers.length).fill(-1)
  const titleRarity = new Float32Array(pageCount)

  const lastPage = new Int32Array(numberOf.size).fill(-1)
  for (let page = 0; page < pageCount; page++)
    for (let field = 0; field < count; field++) {
      const start = fieldStarts[page * count + field] ?? 0
      for (let i = start; i < (fieldStarts[page * count + field + 1] ?? 0); i++) {
        const term = numbers[i] ?? 0
        if (lastPage[term] !== page) {
          lastPage[term] = page
          pages[next[term] ?? 0] = page
          next[term] = (next[term] ?? 0) + 1
        }
        const posting = (next[term] ?? 0) - 1
        if (field === names) inNames[posting] = 1
        if (field === title && inTitle[posting] === 0) {
          inTitle[posting] = 1
          titleRarity[page] = (titleRarity[page] ?? 0) + (rarities[term] ?? 0)
        }
        if (field === title || field === path) isNamed[posting] = about[posting] = 1
        if (field === body) {
          times[posting] = (times[posting] ?? 0) + 1
          if (about[posting] === 0) about[posting] = half.position / (half.position + i - start)
        }
        if (field === title || field === body) {
          positionBefore[i] = lastPosition[posting] ?? -1
          lastPosition[posting] = i
        }
      }
    }
  for (let posting = 0; posting < size; posting++)
    worth[posting] =
      (isNamed[posting] === 1 ? weights.name : 0) +
      (inNames[posting] === 1 ? weights.tableName : 0) +
      weights.body * saturate(times[posting] ?? 0, (lengths[pages[posting] ?? 0] ?? 0) / meanLength, bodyBy)
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
    lengths,
    inTitle,
    /** By posting: the last position in title and body, and by position the one before of the same term on the page; else -1. */
    lastPosition,
    positionBefore,
    /** By term. */
    rarity: rarities,
    /** By page: the sum of the rarities of its title's terms. */
    titleRarity,
  }
}
