// How well the search finds pages that it was not written for: `search-quality [--parts] FILE_OR_FOLDER…`.
// A file has one page a line: {"slug", "title", "description", "content"}. The search gets titles and contents; the questions are
// made of the descriptions, which it never sees. `--parts` takes each part of the formula out and prints what that costs.
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { z } from "zod"
import { type Corpus, loadCorpus } from "../src/corpus/corpus.ts"
import { createSearch } from "../src/search/search.ts"
import { cut, meant, weights } from "../src/search/weights.ts"

const pageSchema = z.object({ slug: z.string(), title: z.string(), description: z.string(), content: z.string() })
type Page = z.infer<typeof pageSchema>
type Question = { readonly query: string; readonly slug: string }
type Sets = Readonly<Record<(typeof setNames)[number], readonly Question[]>>

const setNames = ["description", "typo", "keywords"] as const
const depth = 10
const mostCharacters = 500

const common = new Set(
  `a an and are as at be by can do does for from how i in is it my of on or the this to use using what when where which with
  you your`.split(/\s+/),
)
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}_]+/gu) ?? []
const longestFirst = (words: readonly string[]): string[] => words.toSorted((a, b) => b.length - a.length)

/** The text with the middle letter of its longest word missing, if that has more than six. */
const misspell = (text: string): string[] => {
  const [word = ""] = longestFirst(wordsOf(text))
  const middle = word.length >> 1
  return word.length > 6 ? [text.replace(word, () => word.slice(0, middle) + word.slice(middle + 1))] : []
}

/** The four longest words that say something. */
const telegram = (text: string): string =>
  longestFirst(wordsOf(text).filter((word) => !common.has(word.toLowerCase())))
    .slice(0, 4)
    .join(" ")

const servedSlug = (slug: string): string => slug.replace(/(?:^|\/)index$/, "") || "index"

const questionsOf = (pages: readonly Page[]): Sets => {
  const described = pages.filter(({ description }) => description.length > 30)
  const ask = (make: (text: string) => string[]): Question[] =>
    described.flatMap(({ slug, description }) =>
      make(description.replace(/[`*_]/g, "")).map((query) => ({
        query: query.slice(0, mostCharacters),
        slug: servedSlug(slug),
      })),
    )
  return { description: ask((text) => [text]), typo: ask(misspell), keywords: ask((text) => [telegram(text)]) }
}

/** Reads the pages as the server would, from files. */
const serve = async (pages: readonly Page[]): Promise<Corpus> => {
  const dir = await mkdtemp(join(tmpdir(), "svc-search-"))
  try {
    for (const { slug, title, content } of pages) {
      const file = join(dir, `${slug}.md`)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, `---\ntitle: ${JSON.stringify(title)}\n---\n${content}`)
    }
    return await loadCorpus(dir)
  } finally {
    await rm(dir, { recursive: true })
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / (values.length || 1)

/** MRR@10 of each set of questions. */
const measure = (corpus: Corpus, questions: Sets): number[] => {
  const search = createSearch(corpus)
  return setNames.map((name) =>
    mean(
      questions[name].map(({ query, slug }) => {
        const rank = search(query, 0, depth).hits.findIndex(({ page }) => servedSlug(page.slug) === slug) + 1
        return rank === 0 ? 0 : 1 / rank
      }),
    ),
  )
}

const row = (name: string, values: readonly number[]): string =>
  [name.padEnd(24), ...values.map((value) => value.toFixed(4).padStart(12))].join("")

type Part = readonly [name: string, values: Record<string, number>, key: string]
const parts: readonly Part[] = [
  ...Object.keys(weights).map((name): Part => [name, weights, name]),
  ["corrections", meant, "corrected"],
  ["parts of identifiers", meant, "partOfKnown"],
  ["end of the list cut", cut, "leastShare"],
]

const filesOf = async (path: string): Promise<string[]> =>
  (await stat(path)).isDirectory()
    ? (await readdir(path)).filter((name) => name.endsWith(".jsonl")).map((name) => join(path, name))
    : [path]

const args = process.argv.slice(2)
const files = (await Promise.all(args.filter((arg) => arg !== "--parts").map(filesOf))).flat().toSorted()
if (files.length === 0) {
  console.error(
    "usage: search-quality [--parts] FILE_OR_FOLDER…  (files of JSON lines: slug, title, description, content)",
  )
  process.exit(2)
}
const read = await Promise.all(
  files.map(async (file) => {
    const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "")
    const pages = lines.map((line) => pageSchema.parse(JSON.parse(line)))
    return { name: basename(file, ".jsonl"), corpus: await serve(pages), questions: questionsOf(pages) }
  }),
)
const measureAll = (print: boolean): number[] => {
  const all = read.map(({ name, corpus, questions }) => {
    const scores = measure(corpus, questions)
    if (print) console.log(row(name, scores))
    return scores
  })
  return setNames.map((_, i) => mean(all.map((scores) => scores[i] ?? 0)))
}

console.log(["MRR@10".padEnd(24), ...setNames.map((name) => name.padStart(12))].join(""))
const whole = measureAll(true)
console.log(row("mean", whole))
if (args.includes("--parts"))
  for (const [name, values, key] of parts) {
    const value = values[key] ?? 0
    values[key] = 0
    console.log(
      row(
        `without ${name}`,
        measureAll(false).map((score, i) => score - (whole[i] ?? 0)),
      ),
    )
    values[key] = value
  }
