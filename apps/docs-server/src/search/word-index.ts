import { type Field, type Texts, fieldNames } from "./text.ts"
import { early, fields, rarity, saturate } from "./weights.ts"

export type Index = ReturnType<typeof buildIndex>

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

/** Which pages have each term, and what it is worth there: known beforehand, so that a query only adds numbers up. */
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
    /** How often each term stands in each field, and where in the body. */
    const found = new Map<number, { readonly times: number[]; readonly inBody: number[] }>()
    for (let field = 0; field < count; field++)
      for (let i = startOf(field); i < startOf(field + 1); i++) {
        const term = numbers[i] ?? 0
        let one = found.get(term)
        if (one === undefined) found.set(term, (one = { times: fieldNames.map(() => 0), inBody: [] }))
        one.times[field] = (one.times[field] ?? 0) + 1
        if (field === body && one.inBody.length < mostPositions) one.inBody.push(i)
      }
    const lengths = means.map((mean, field) => (startOf(field + 1) - startOf(field)) / mean)
    for (const [term, { times, inBody }] of found) {
      const posting = next[term] ?? 0
      next[term] = posting + 1
      pages[posting] = page
      const first = (inBody[0] ?? 0) - startOf(body)
      let sum = 0
      for (const [field, name] of fieldNames.entries())
        if (times[field] !== 0) sum += valueOf(name, times[field] ?? 0, lengths[field] ?? 1, first)
      worth[posting] = sum
      positionStarts[posting] = positions.length
      for (const position of inBody) positions.push(position)
      positionEnds[posting] = positions.length
      if (times[0] === 0) continue
      inTitle[posting] = 1
      titleRarity[page] = (titleRarity[page] ?? 0) + (rarities[term] ?? 0)
    }
  }
  return {
    /** Where in the arrays of postings each term's start; the end of all behind the last. */
    termStarts,
    pages,
    worth,
    inTitle,
    /** Where in `positions` those of each posting start and end. */
    positionStarts,
    positionEnds,
    /** Where in the texts' numbers the page's body has the term, ascending: the first thousand. */
    positions: Uint32Array.from(positions),
    /** Of each term. */
    rarity: rarities,
    /** The sum over each page's title. */
    titleRarity,
  }
}

const valueOf = (name: Field, times: number, lengths: number, first: number): number =>
  fields[name].weight * saturate(times, lengths, fields[name]) +
  (name === "body" ? (early.weight * early.half) / (early.half + first) : 0)
