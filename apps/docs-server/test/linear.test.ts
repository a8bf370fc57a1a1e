// Content is an operator's own, and still no page may stop the server for seconds: what is read in quadratic time is found
// by doubling its length and counting steps, not seconds.
import { outline, plainText } from "@svc/site"
import { median } from "@svc/testing"
import { afterAll, describe, expect, test } from "vitest"
import { messageBounds } from "../src/mcp/json-rpc.ts"
import { stripMdx } from "../src/corpus/mdx.ts"
import { partToRead, passagesOf, plainOf, snippetOf } from "../src/search/passages.ts"
import { eachWord } from "../src/search/words.ts"
import { answersOf, libraryOf } from "./library.ts"
import { modernCall } from "./start.ts"
import { createStepCounter } from "./steps.ts"

const steps = await createStepCounter()
afterAll(() => steps.stop())
const home = libraryOf({ index: "# Home\n" })
const { remembered } = await answersOf(() => home)

const repeat =
  (piece: string, before = "", after = "") =>
  (length: number): string =>
    before + piece.repeat(Math.ceil(length / piece.length)) + after

const markdown: Readonly<Record<string, (length: number) => string>> = {
  brackets: repeat("["),
  images: repeat("!["),
  "links that never end": repeat("[a]("),
  struck: repeat("~~a "),
  emphasis: repeat("*a "),
  "emphasis inside words": repeat("a**b"),
  "code that never ends": repeat("`a ``b "),
  "a heading of spaces": repeat(" ", "# a", "b"),
  "a heading of braces": repeat("{#", "# a", "}"),
  "a table row of spaces": repeat(" ", "|a", "b"),
  "a fence of spaces": repeat(" ", "``` a", "\nb"),
  tags: repeat("<a b"),
  comments: repeat("<!--\n\n"),
  "the same heading": repeat("# a\n\n"),
  "lists in lists": repeat("- "),
  "quotes that go on": (length) => `${">".repeat(200)}a\n${"b\n".repeat(length / 2)}`,
  "lists, ever deeper": (length) => {
    let text = ""
    for (let depth = 0; text.length < length; depth++) text += `${"  ".repeat(depth % 50)}- a\n`
    return text
  },
  definitions: repeat("[a]: b\n"),
  "definitions that never end": repeat("[a\n"),
  "tables of one row": repeat("|a|\n|-|\n"),
  "a table as wide as long": (length) => `${"|".repeat(length / 2)}\n${"-|".repeat(length / 4)}\n`,
}

const mdx: Readonly<Record<string, (length: number) => string>> = {
  "code that never ends": repeat("`a "),
  "code of ever more marks": (length) =>
    Array.from({ length: Math.sqrt(length * 2) }, (_, marks) => "`".repeat(marks + 1)).join(" "),
  "comments that never end": repeat("{/*"),
  imports: repeat("import x\n"),
  "imports of nothing": repeat("import {x,\n"),
  "imports that end far off": repeat("import x\n", "", " from 'a'"),
  exports: repeat("export { a\n"),
  "tags that never end": repeat("<a {"),
  "tags with strings that never end": repeat('<a {\\"'),
  "fences in lists": repeat("- ```\n"),
  "lines of spaces": repeat(" ", "", "a\n"),
}

// The length doubled twice: four times the steps, and some for what is done once; in quadratic time it would be sixteen.
const lengths = [2000, 8000] as const
const mostGrowth = 6
const mostSteps = 1500

const stepsOf = <Input>(input: Input, read: (input: Input) => unknown): Promise<number> =>
  steps.count(() => read(input))

/** How much more four times the length costs, and what a character costs then. */
const growth = async (make: (length: number) => string, read: (text: string) => unknown) => {
  const few = await stepsOf(make(lengths[0]), read)
  const many = await stepsOf(make(lengths[1]), read)
  return { factor: many / few, perCharacter: many / lengths[1] }
}
// A bound that the length does not move may still be too dear.
const linear = {
  factor: expect.toSatisfy((factor: number) => factor < mostGrowth),
  perCharacter: expect.toSatisfy((count: number) => count > 0 && count < mostSteps),
}

const isWanted = (term: string): boolean => term === "b"
const find = (text: string): void => {
  for (const { text: passage, kind } of passagesOf(text, false)) {
    const plain = plainOf(partToRead(passage, isWanted), kind)
    snippetOf(
      plain,
      [...eachWord(plain)].filter(({ text: word }) => isWanted(word)),
    )
  }
  plainText(text)
}
describe.each([
  ["Markdown is read", markdown, (text: string) => outline(text, 0)],
  ["Markdown is found by a query", markdown, find],
  ["MDX is read", { ...markdown, ...mdx }, stripMdx],
])("%s in time linear in its length, not quadratic", (_, texts, read) => {
  test.each(Object.entries(texts))("%s", async (_name, make) => {
    expect(await growth(make, read)).toEqual(linear)
  })
})

test.each(["](%zz)\n", "](../a/b)\n", "<a href='x'\n", "](a/b"])(
  "links such as %j are read in linear time",
  async (piece) => {
    expect(await growth(repeat(piece), (text) => libraryOf({ text }))).toEqual(linear)
  },
)

describe("a message is validated in time linear in its values", () => {
  const values: Readonly<Record<string, (count: number) => unknown>> = {
    numbers: (count) => Array(count).fill(0),
    objects: (count) => Array.from({ length: count }, () => ({})),
    members: (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 0])),
  }
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "a", version: "1" },
  }
  const messages: Readonly<Record<string, (value: unknown) => [method: string, params: Record<string, unknown>]>> = {
    "icons of a client": (icons) => [
      "initialize",
      { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1", icons } },
    ],
    "capabilities of a client": (experimental) => [
      "initialize",
      { protocolVersion: "2025-11-25", capabilities: { experimental }, clientInfo: { name: "a", version: "1" } },
    ],
    "capabilities in a stateless request": (experimental) => [
      "tools/list",
      { _meta: { ...meta, "io.modelcontextprotocol/clientCapabilities": { experimental } } },
    ],
    "arguments of a tool": (query) => ["tools/call", { name: "search_docs", arguments: { query } }],
    "arguments of a completion": (context) => [
      "completion/complete",
      { ref: { type: "ref/resource", uri: "x" }, argument: { name: "a", value: "b" }, context: { arguments: context } },
    ],
  }

  test.each(Object.keys(messages).flatMap((name) => Object.keys(values).map((kind): [string, string] => [name, kind])))(
    "%s: %s",
    async (name, kind) => {
      const send = async (count: number) => {
        const [method = "", params] = messages[name]?.(values[kind]?.(count)) ?? []
        const headers = new Headers("_meta" in (params ?? {}) ? modernCall(method).headers : {})
        await remembered({ method, params }, new Request("http://localhost/mcp", { headers }))
      }
      const few = await stepsOf(messageBounds.values / 4, send)
      const many = await stepsOf(messageBounds.values, send)
      expect(many / few).toBeLessThan(mostGrowth)
      expect(many / messageBounds.values).toBeLessThan(mostSteps)
    },
  )
})

test("a query's cost doesn't grow with how often a page repeats its words", async () => {
  const stepsFor = async (words: number): Promise<number> => {
    const { search } = libraryOf({ long: `# Page\n\n${"key rotation ".repeat(words)}\n`, other: "# Other\n\nkey\n" })
    // The first question reads what all later ones share.
    search("rotation of a key", 0, 5)
    let offset = 1
    return stepsOf("rotation of a key", (query) => search(query, offset++, 5))
  }
  // From some moment on the engine may lose the counts of a function: at most one of the pairs has that moment between its two.
  const growthOnce = async (): Promise<number> => (await stepsFor(20_000)) / (await stepsFor(5000))
  expect(median([await growthOnce(), await growthOnce(), await growthOnce()])).toBeLessThan(1.2)
})
