import { expect, test } from "vitest"
import { ownContent, ownFacts } from "../../src/config.ts"
import { loadCorpus } from "../../src/corpus/corpus.ts"
import { createSearch } from "../../src/search/search.ts"
import { isHeldBack, type Question, questions } from "./questions.ts"
import { shortQuestions } from "./short-questions.ts"

const corpus = await loadCorpus(ownContent, { fill: ownFacts })
const search = createSearch(corpus)

const slugOf = (place: string): string => place.split("#")[0] ?? ""

const heldBack = questions.filter(([question]) => isHeldBack(question))

const judge = ([question, answers, line]: Question) => {
  const places = answers.split(" | ")
  const { hits } = search(question, 0, 10)
  const rank = hits.findIndex(({ page }) => places.some((place) => slugOf(place) === page.slug)) + 1
  const [first] = hits
  const section = first === undefined ? "nothing" : `${first.page.slug}#${first.section?.anchor ?? ""}`
  const isSection = places.includes(section)
  return {
    question,
    answers,
    rank,
    section,
    isSection,
    isLine: isSection && first?.snippet.includes(line ?? "") === true,
  }
}

const share = (good: number, all: readonly unknown[]): number => good / all.length

test("questions find the page that answers them: MRR@10 of at least 0.95", () => {
  const judged = questions.map(judge)
  const sum = judged.reduce((all, { rank }) => all + (rank === 0 ? 0 : 1 / rank), 0)
  const worst = judged.filter(({ rank }) => rank !== 1).map((one) => `${one.rank}: ${one.question} (${one.answers})`)
  expect(share(sum, judged), `not first:\n${worst.join("\n")}`).toBeGreaterThanOrEqual(0.95)
})

test("short and unfinished queries find the page that they name as the first result: 95 in 100", () => {
  const wrong = shortQuestions.filter(([query, slugs]) => {
    const [first] = search(query, 0, 1).hits
    return !slugs.split(" | ").includes(first?.page.slug ?? "")
  })
  expect(wrong.length / shortQuestions.length, wrong.join("\n")).toBeLessThanOrEqual(0.05)
})

/** The operations of the three services by method and path; a few have the same, such as the health of each service. */
const operations = (): Map<string, string[]> => {
  const found = new Map<string, string[]>()
  for (const { slug, markdown } of corpus.pages.values()) {
    const line = /^`([A-Z]+) \{\w+_url\}(\/\S*)`$/m.exec(markdown)
    if (!/^reference\/\w+\/./.test(slug)) continue
    const operation = `${line?.[1]} ${line?.[2]}`
    found.set(operation, [...(found.get(operation) ?? []), slug])
  }
  return found
}

test("an operation's method and path find it first: whole, in other forms, or without the end", () => {
  expect(operations().size).toBeGreaterThan(75)
  for (const [operation, slugs] of operations()) {
    const [method = "", path = ""] = operation.split(" ")
    const found = (query: string, limit: number) => search(query, 0, limit).hits.map(({ page }) => page.slug)
    const forms = [
      operation,
      `${method.toLowerCase()} ${path}`,
      `${method} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
      `${method} https://svc.example${path}?a=b`,
      `  ${method}  ${path}/`,
    ]
    for (const form of forms) expect(found(form, slugs.length).toSorted(), form).toEqual(slugs.toSorted())
    // What other operations begin with, too, finds all of them.
    const begun = operation.slice(0, -2)
    if (path.length < 4 || begun.includes("}") !== path.includes("}")) continue
    const meant = [...operations()].filter(([other]) => other.startsWith(begun)).flatMap(([, all]) => all)
    const first = found(begun, 20)
    expect(meant.slice(0, 20).length, begun).toBeLessThanOrEqual(first.length)
    expect(meant.length > 15 || slugs.every((slug) => first.includes(slug)), begun).toBe(true)
  }
})

test("an operation's title finds it first, even without its last letters", () => {
  for (const slug of [...operations().values()].flat()) {
    const { title = "" } = corpus.pages.get(slug) ?? {}
    const begun = title.slice(0, -3).trim()
    for (const query of begun.includes(" ") ? [title, begun] : [title]) {
      const { hits } = search(query, 0, 20)
      expect(hits[0]?.page.title.startsWith(query), query).toBe(true)
      expect(
        hits.map(({ page }) => page.slug),
        query,
      ).toContain(slug)
    }
  }
})

test("questions that the search wasn't tuned on find the right section as the first hit: 4 in 5", () => {
  const judged = heldBack.map(judge)
  expect(share(judged.filter(({ isSection }) => isSection).length, judged)).toBeGreaterThanOrEqual(0.8)
})

test("the first hit shows the line with the answer, if there is one: 7 in 8", () => {
  const judged = questions.filter(([, , line]) => line !== undefined).map(judge)
  const wrong = judged.filter(({ isLine }) => !isLine).map(({ question, section }) => `${question} → ${section}`)
  expect(share(judged.length - wrong.length, judged), wrong.join("\n")).toBeGreaterThanOrEqual(7 / 8)
})

test("the questions are at least 150, name sections that exist, and cover nearly every handwritten page", () => {
  const places = questions.flatMap(([, answers]) => answers.split(" | "))
  const known = new Set(
    [...corpus.pages.values()].flatMap(({ slug, sections }) => sections.map(({ anchor }) => `${slug}#${anchor}`)),
  )
  // A heading may get other words; then its questions count as not found until somebody writes the new ones here.
  const gone = places.filter((place) => !known.has(place))
  expect(gone.length / places.length, gone.join("\n")).toBeLessThan(0.03)
  const written = [...corpus.pages.keys()].filter((slug) => !slug.startsWith("reference/"))
  const unasked = written.filter((slug) => !places.some((place) => slugOf(place) === slug))
  expect(unasked.length / written.length, unasked.join(", ")).toBeLessThan(0.1)
  expect(new Set(questions.map(([question]) => question)).size).toBe(questions.length)
  expect(questions.length).toBeGreaterThanOrEqual(150)
})

test("every error code and environment variable finds the row that explains it", () => {
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
