import { hash } from "node:crypto"
import fc from "fast-check"
import { anyCharacter } from "@svc/testing"
import { expect, test } from "vitest"
import { runs } from "./fuzz-runs.ts"
import { ask, call, libraryOf } from "./library.ts"

const long = Array.from(
  { length: 40 },
  (_, i) => `## Part ${i}\n\nText of part ${i}.\n\n\`\`\`js\n\nlet x = ${i}\n\n\`\`\`\n`,
).join("\n")
const library = libraryOf({
  index: "# Home\n\nWelcome.\n",
  "guides/long": `# Long\n\n${long}`,
  keys: "# Keys\n\n## Rotation\n\nrotate\n\n## Über uns\n\ntext\n",
  empty: "",
})

type Part = { content: string; truncated: boolean; next_cursor?: string }
const read = (args: object): Part => {
  const answer = ask(library, "fetch_page", args)
  return answer as Part
}
const readAll = (args: object): string[] => {
  const parts = [read(args)]
  for (let last = parts[0]; last?.next_cursor !== undefined; last = parts.at(-1))
    parts.push(read({ ...args, cursor: last.next_cursor }))
  return parts.map(({ content }) => content)
}
const refusal = (args: object, where = library): string => {
  const answer = call(where, "fetch_page", args)
  return "refusal" in answer ? answer.refusal : "not refused"
}

test.each([
  "keys",
  "/keys",
  "keys.md",
  "keys/",
  "/keys.md?x=1",
  "https://docs.example/keys",
  "https://docs.example/keys.md",
  " keys ",
  "./keys.md",
])("%s finds the page keys", (slug) => {
  expect(ask(library, "fetch_page", { slug })).toMatchObject({
    slug: "keys",
    title: "Keys",
    url: "https://docs.example/keys.md",
  })
})

test("a URL of another host isn't a page, even if this host has the path; this machine's names are one host", () => {
  const told = refusal({ slug: "https://other.example/keys.md" })
  expect(told).toContain("isn't a page of this documentation, https://docs.example")
  expect(told).toContain("has the slug keys")
  expect(refusal({ url: "https://other.example/nothing" })).toContain("search_docs")
  expect(refusal({ slug: "http://localhost:4001/keys" })).toContain("isn't a page of this documentation")
  const local = { ...library, baseUrl: "http://127.0.0.1:4001" }
  expect(ask(local, "fetch_page", { slug: "http://localhost:9000/keys.md" })).toMatchObject({ slug: "keys" })
  expect(refusal({ slug: "http://localhost:9000/openapi.json" }, local)).toContain("isn't a page of this documentation")
})

test("a slug counts before a path or URL that is passed beside it", () => {
  const both = { url: "https://docs.example/empty", slug: "keys", path: "/empty" }
  expect(ask(library, "fetch_page", both)).toMatchObject({ slug: "keys" })
})

test("a slug from search_docs finds its page, whatever characters it has", () => {
  const odd = libraryOf({ "guides/c#": "# Sharp\n", "why?": "# Why\n", "a%20b": "# Encoded\n" })
  for (const slug of odd.corpus.pages.keys()) expect(ask(odd, "fetch_page", { slug })).toMatchObject({ slug })
})

test.each(["index", "/", "https://docs.example/", "https://docs.example"])("%s finds the root page", (slug) => {
  expect(ask(library, "fetch_page", { slug })).toMatchObject({ slug: "index" })
})

test.each([
  [{ slug: "keys#rotation" }, "rotation"],
  [{ slug: "https://docs.example/keys.md#%C3%BCber-uns" }, "über-uns"],
  [{ slug: "keys", section: "Rotation" }, "rotation"],
  [{ slug: "keys", section: "#rotation" }, "rotation"],
  // As search_docs writes it.
  [{ slug: "keys", anchor: "rotation" }, "rotation"],
  [{ slug: "keys#rotation", section: "Über uns" }, "über-uns"],
])("%j returns only section %s", (args, anchor) => {
  const part = ask(library, "fetch_page", { ...args, sections: true })
  expect(part).toMatchObject({ section: anchor, truncated: false })
  const listed = (part["sections"] as { anchor: string; tokens: number }[]).find((section) => section.anchor === anchor)
  expect(listed?.tokens).toBe(Math.ceil(String(part["content"]).length / 4))
})

test("the concatenated parts are exactly the page or section, at any budget, and no part cuts a fence", () => {
  const what = fc.constantFrom<object>(
    { slug: "guides/long" },
    { slug: "guides/long", section: "part-3" },
    { slug: "empty" },
  )
  fc.assert(
    fc.property(what, fc.integer({ min: 1, max: 900 }), (args, tokens) => {
      const parts = readAll({ ...args, max_tokens: tokens })
      expect(parts.join("")).toBe(read(args).content)
      for (const part of parts) expect(part.split("```").length % 2).toBe(1)
    }),
    runs(10_000),
  )
})

test("a part fits its budget unless it is one block", () => {
  for (const part of readAll({ slug: "guides/long", max_tokens: 50 })) expect(part.length).toBeLessThanOrEqual(200)
  const huge = `\`\`\`\n${"x\n\n".repeat(500)}\`\`\`\n`
  const other = libraryOf({ huge: `a\n\n${huge}\nb\n` })
  const second = ask(other, "fetch_page", { slug: "huge", max_tokens: 1 })["next_cursor"]
  expect(ask(other, "fetch_page", { slug: "huge", max_tokens: 1, cursor: second })["content"]).toBe(`${huge}\n`)
})

test("a budget over the maximum is reduced to the maximum", () => {
  const other = libraryOf({ big: "word word word word\n\n".repeat(10_000) })
  expect(
    String(ask(other, "fetch_page", { slug: "big", max_tokens: 1_000_000 })["content"]).length,
  ).toBeLessThanOrEqual(80_000)
  expect(() => ask(other, "fetch_page", { slug: "big", max_tokens: 1_000_001 })).toThrow(
    "max_tokens must be at most 1000000",
  )
})

test("sections are listed on request, in the text too, and if the page continues", () => {
  const answer = call(library, "fetch_page", { slug: "keys", sections: true })
  expect("texts" in answer && answer.texts[1]).toMatch(
    /^Sections and their tokens: keys \d+, rotation \d+, über-uns \d+$/,
  )
  expect(read({ slug: "keys" })).not.toHaveProperty("sections")
  expect(read({ slug: "keys", sections: true })).toHaveProperty("sections.length", 3)
  expect(read({ slug: "guides/long", max_tokens: 20 })).toHaveProperty("sections.length", 41)
})

test("an unknown page is rejected with the three nearest slugs, an unknown section with the page's sections", () => {
  expect(refusal({ slug: "guide/lon" })).toContain("Nearest slugs: guides/long, ")
  const others = libraryOf({ keys: "# Keys\n", sessions: "# Sessions\n", "get-liveness": "# Liveness\n" })
  for (const swapped of ["kyes", "ekys", "kesy"])
    expect(refusal({ slug: swapped }, others)).toContain("Nearest slugs: keys, ")
  expect(refusal({ slug: "keys", section: "nope" })).toContain("keys, rotation, über-uns")
  expect(refusal({ slug: "../../etc/passwd" })).toContain("There is no page")
})

test("a cursor of another page, section or version, or an invented one, is rejected with a clear message", () => {
  const { next_cursor: cursor } = read({ slug: "guides/long", max_tokens: 20 })
  expect(refusal({ slug: "keys", cursor })).toContain("another page or section")
  expect(refusal({ slug: "guides/long", section: "part-3", cursor })).toContain("another page or section")
  expect(refusal({ slug: "guides/long", cursor }, libraryOf({ "guides/long": "x" }, "v2"))).toContain("have changed")
  const { next_cursor: ofSearch } = ask(library, "search_docs", { query: "part keys", limit: 1 })
  expect(refusal({ slug: "keys", cursor: ofSearch })).toContain("another tool")
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (made) => {
      expect(refusal({ slug: "keys", cursor: made })).toContain("not one that this tool returned")
    }),
    runs(10_000),
  )
})

test("an invented cursor with a valid checksum is rejected too", () => {
  for (const text of ["", "{", "[]", "[1]", "null", '["v1"', '{"v1":1}']) {
    const payload = Buffer.from(text).toString("base64url")
    const cursor = `${payload}.${hash("sha256", `cursor ${payload}`, "base64url").slice(0, 12)}`
    expect(refusal({ slug: "keys", cursor })).toContain("not one that this tool returned")
  }
})

test("a response lists at most 500 sections, however many the page has and however long their headings are", () => {
  const headings = Array.from({ length: 2000 }, (_, i) => `## ${i} ${"long ".repeat(1000)}\n`).join("")
  const other = libraryOf({ many: headings })
  const { sections } = ask(other, "fetch_page", { slug: "many", max_tokens: 1 })
  expect(sections).toHaveLength(500)
  expect(JSON.stringify(sections).length).toBeLessThan(500_000)
  expect(refusal({ slug: "many", section: "none" }, other).length).toBeLessThan(100_000)
})

test("any reference gets a result or a rejection, never an internal error", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: anyCharacter, minLength: 1, maxLength: 100 }),
      fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      (slug, section) => {
        const answer = call(library, "fetch_page", { slug, ...(section !== undefined && { section }) })
        expect("refusal" in answer || "structured" in answer).toBe(true)
      },
    ),
    runs(50_000),
  )
})
