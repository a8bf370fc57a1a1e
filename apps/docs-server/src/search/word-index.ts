import { type Field, type Texts, fieldNames } from "./text.ts"
import { early, fields, rarity, saturate } from "./weights.ts"

/** Which pages have each term, and what it is worth there. */
export type Index = {
  /** Where in the arrays below each term's pages start; the end of all behind the last. */
  readonly termStarts: Uint32Array
  readonly pages: Uint32Array
  readonly worth: Float32Array
  readonly inTitle: Uint8Array
  /** Where in `positions` those of each posting of `pages` start; the end of all behind the last. */
  readonly positionStarts: Uint32Array
  /** Where in the texts' numbers the page's body has the term, ascending: the first thousand. */
  readonly positions: Uint32Array
  /** Of each term. */
  readonly rarity: Float32Array
  /** The sum over each page's title. */
  readonly titleRarity: Float32Array
}

const count = fieldNames.length

/** How many pages each term has, without a page twice, and what they count together. */
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

// Of a term in one page: a query reads them all, and the first say enough about a page that has more.
const mostPositions = 1000

/** Where each term first stands in each body. @param positionStarts as in Index */
const findPositions = (
  { numbers, fieldStarts }: Texts,
  { termStarts, pages, positionStarts }: Pick<Index, "termStarts" | "pages" | "positionStarts">,
): Uint32Array => {
  const positions = new Uint32Array(positionStarts.at(-1) ?? 0)
  const next = positionStarts.slice()
  /** Of each term, the posting for the page at hand or one before. */
  const postings = termStarts.slice()
  const pageCount = (fieldStarts.length - 1) / count
  for (let page = 0; page < pageCount; page++)
    for (let i = fieldStarts[page * count + body] ?? 0; i < (fieldStarts[(page + 1) * count] ?? 0); i++) {
      const term = numbers[i] ?? 0
      let posting = postings[term] ?? 0
      while ((pages[posting] ?? page) < page) posting++
      postings[term] = posting
      const at = next[posting] ?? 0
      if (at === positionStarts[posting + 1]) continue
      positions[at] = i
      next[posting] = at + 1
    }
  return positions
}

/** Weighs every term of every page once, so that a query only adds numbers up. */
export const buildIndex = (texts: Texts, weights: readonly number[]): Index => {
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
  const positionStarts = new Uint32Array(size + 1)
  const titleRarity = new Float32Array(pageCount)

  /** How often each term stands in each field of the page at hand, and where in the body first. */
  const times = new Uint32Array(numberOf.size * count)
  const first = new Uint32Array(numberOf.size)
  for (let page = 0; page < pageCount; page++) {
    const startOf = (field: number): number => fieldStarts[page * count + field] ?? 0
    const found = new Set<number>()
    for (let field = 0; field < count; field++)
      for (let i = startOf(field); i < startOf(field + 1); i++) {
        const term = numbers[i] ?? 0
        found.add(term)
        const at = term * count + field
        if (field === body && times[at] === 0) first[term] = i - startOf(field)
        times[at] = (times[at] ?? 0) + 1
      }
    const lengths = means.map((mean, field) => (startOf(field + 1) - startOf(field)) / mean)
    for (const term of found) {
      const posting = next[term] ?? 0
      next[term] = posting + 1
      let sum = 0
      for (const [field, name] of fieldNames.entries()) {
        const often = times[term * count + field] ?? 0
        if (often > 0) sum += valueOf(name, often, lengths[field] ?? 1, first[term] ?? 0)
      }
      pages[posting] = page
      worth[posting] = sum
      positionStarts[posting + 1] = Math.min(times[term * count + body] ?? 0, mostPositions)
      if ((times[term * count] ?? 0) > 0) {
        inTitle[posting] = 1
        titleRarity[page] = (titleRarity[page] ?? 0) + (rarities[term] ?? 0)
      }
      times.fill(0, term * count, (term + 1) * count)
    }
  }
  for (let i = 0; i < size; i++) positionStarts[i + 1] = (positionStarts[i + 1] ?? 0) + (positionStarts[i] ?? 0)
  const positions = findPositions(texts, { termStarts, pages, positionStarts })
  return { termStarts, pages, worth, inTitle, positionStarts, positions, rarity: rarities, titleRarity }
}

const valueOf = (name: Field, times: number, lengths: number, first: number): number =>
  fields[name].weight * saturate(times, lengths, fields[name]) +
  (name === "body" ? (early.weight * early.half) / (early.half + first) : 0)
