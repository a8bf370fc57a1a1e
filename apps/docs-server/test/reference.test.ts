import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import meanings from "../../../packages/openapi/src/field-meanings.json" with { type: "json" }
import { ownContent, ownFacts } from "../src/config.ts"
import { loadCorpus } from "../src/corpus/corpus.ts"
import { ask, libraryFor } from "./library.ts"

const library = libraryFor(await loadCorpus(ownContent, { fill: ownFacts }))

test("every operation has an example with its response, and fits in 1,500 tokens", () => {
  const send = ask(library, "fetch_page", { slug: "reference/relay/send" })
  expect(String(send["content"])).toMatch(/^`POST [^\n]*\/transactions\/v1\/send`$/m)
  const operations = [...library.corpus.pages.values()].filter(({ slug }) => /^reference\/\w+\/./.test(slug))
  const without = operations.filter(
    ({ markdown }) => !/^## Example\n\n(?:::: code-group\n\n)?```sh[^\n]*\ncurl [^]*```http\nHTTP/m.test(markdown),
  )
  expect(without.map(({ slug }) => slug)).toEqual([])
  const [largest] = operations.toSorted((a, b) => b.tokens - a.tokens)
  console.log(`the longest operation: ${largest?.slug}, ${largest?.tokens} tokens`)
  expect(largest?.tokens).toBeLessThan(1500)
})

test("an operation lists every media type of its response", () => {
  const { content } = ask(library, "fetch_page", { slug: "reference/platform/get-stack-types" })
  expect(content).toContain("`200`: The module. `text/typescript` or `application/schema+json`.")
})

test("every parameter and field has a meaning, and no shared meaning is unused", async () => {
  const silent = [...library.corpus.pages.values()].flatMap(({ slug, markdown }) => {
    const rows = /^reference\/\w+\/./.test(slug) ? markdown.split("\n").filter((line) => line.startsWith("| `")) : []
    return rows.filter((row) => !/[^|]{3,}\|$/.test(row)).map((row) => `${slug}: ${row}`)
  })
  expect(silent).toEqual([])
  const apps = ["platform-api", "relay", "docs-server"].map((app) => join(ownContent, "../..", app, "openapi.json"))
  const documents = (await Promise.all(apps.map((file) => readFile(file, "utf8")))).join("")
  const unused = Object.entries(meanings).filter(([, text]) => !documents.includes(JSON.stringify(text)))
  expect(unused).toEqual([])
})

test("every error code in the reference links to its row, which fetch_page returns on its own", () => {
  const anchors = new Set(library.corpus.pages.get("errors")?.rows.map(({ anchor }) => anchor))
  const missing = new Set<string>()
  for (const { slug, markdown } of library.corpus.pages.values())
    if (slug.startsWith("reference/"))
      for (const [, anchor = ""] of markdown.matchAll(/\/errors\.md#([\w-]+)\)/g))
        if (!anchors.has(anchor)) missing.add(anchor)
  expect([...missing]).toEqual([])
  for (const slug of ["errors#relay-submission_unknown", "https://docs.example/errors.html#relay-submission_unknown"])
    expect(ask(library, "fetch_page", { slug })).toMatchObject({
      slug: "errors",
      section: "relay-submission_unknown",
      content: expect.stringMatching(/^\| `submission_unknown` \|[^\n]*\|$/),
    })
})
