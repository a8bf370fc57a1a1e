import { join } from "node:path"
import { beforeAll, expect, test } from "vitest"
import { type Corpus, loadCorpus } from "../../src/corpus.ts"
import { createSearch, type Search } from "../../src/search.ts"
import { questions } from "./questions.ts"

let corpus: Corpus
let search: Search

beforeAll(async () => {
  corpus = await loadCorpus(join(import.meta.dirname, "../../content"))
  search = createSearch(corpus)
})

/** Where the page stands in the answer, 1 the first; 0 when it is not among ten. */
const rankOf = (question: string, slug: string): number =>
  search(question, 0, 10).hits.findIndex(({ page }) => page.slug === slug) + 1

test("agents' questions find the page that answers them: MRR@10 of at least 0.9", () => {
  const ranks = questions.map(([question, slug]) => ({ question, slug, rank: rankOf(question, slug) }))
  const score = ranks.reduce((sum, { rank }) => sum + (rank === 0 ? 0 : 1 / rank), 0) / ranks.length
  const worst = ranks
    .filter(({ rank }) => rank !== 1)
    .map(({ question, slug, rank }) => `${rank}: ${question} (${slug})`)
  expect(score, `not first:\n${worst.join("\n")}`).toBeGreaterThanOrEqual(0.9)
})

test("the questions ask for pages that exist, and for every page", () => {
  const asked = new Set(questions.map(([, slug]) => slug))
  expect([...asked].toSorted()).toEqual([...corpus.pages.keys()].toSorted())
  expect(new Set(questions.map(([question]) => question)).size).toBe(questions.length)
})

test("every error code and every environment variable finds the row that explains it", () => {
  const rowsOf = (slug: string): string[] =>
    [...(corpus.pages.get(slug)?.markdown ?? "").matchAll(/^\| `([A-Za-z][\w-]+)` \|/gm)].map(([, word = ""]) => word)
  const lost = ["errors", "configuration"].flatMap((slug) =>
    [...new Set(rowsOf(slug))].filter((word) => {
      const { hits } = search(word, 0, 5)
      const hit = hits.find(({ page }) => page.slug === slug)
      return hit === undefined || !hit.snippet.includes(word)
    }),
  )
  expect(lost).toEqual([])
})
