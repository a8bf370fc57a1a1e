import fc from "fast-check"
import { expect, test } from "vitest"
import { rememberAnswers } from "../src/mcp/repeated.ts"
import { runs } from "./fuzz-runs.ts"
import { answersOf, libraryOf } from "./library.ts"
import { modernCall } from "./start.ts"

let library = libraryOf({
  index: "# Home\n\nWelcome to the guide.\n",
  "guides/one": "# One\n\nText.\n\n## Two\n\nMore.\n",
})
const { sdk, remembered } = await answersOf(() => library)

const callerOf = (headers: Record<string, string>) => new Request("http://localhost/mcp", { headers })

const args = fc.oneof(
  fc.constantFrom<unknown>(
    { query: "guide" },
    { query: "text", limit: 1 },
    { slug: "guides/one" },
    { slug: "none" },
    { slug: "guides/one#two" },
  ),
  fc.record({ query: fc.string() }),
  fc.record({ slug: fc.string(), section: fc.string() }, { requiredKeys: ["slug"] }),
  fc.constantFrom<unknown>(
    {},
    [],
    "x",
    null,
    5,
    { query: "guide", extra: 1 },
    { query: "x", limit: 99 },
    { query: "x", cursor: "y" },
  ),
)
const params = fc.oneof(
  fc.record(
    { name: fc.constantFrom("search_docs", "fetch_page", "none"), arguments: args },
    { requiredKeys: ["name"] },
  ),
  fc.constantFrom(
    {},
    { cursor: "x" },
    { uri: "https://docs.example/index.md" },
    { uri: "x" },
    { name: "search_docs", task: {} },
  ),
  fc.record({
    name: fc.constant("search_docs"),
    arguments: args,
    _meta: fc.constantFrom<unknown>({}, { progressToken: 1 }, { progressToken: {} }, 5),
  }),
)
const request = fc.record({
  method: fc.constantFrom(
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/read",
    "ping",
    "server/discover",
    "none",
    "prompts/list",
    "__proto__",
  ),
  params,
  modern: fc.boolean(),
  header: fc.constantFrom<Record<string, string>>(
    {},
    { "mcp-method": "other" },
    { "mcp-name": "other" },
    { "mcp-protocol-version": "2025-06-18" },
  ),
})

test("a cached response is the SDK's response, byte for byte", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 2, maxLength: 6 }), async (requests) => {
      for (const { method, params: given, modern, header } of [...requests, ...requests]) {
        const name = "name" in given ? given.name : "uri" in given ? given.uri : undefined
        const call = modernCall(method, given, name)
        const sent = { method, params: modern ? call.params : given }
        const headers = { ...(modern && call.headers), ...header }
        expect(await remembered(sent, callerOf(headers))).toEqual(await sdk.answer(sent, callerOf(headers)))
      }
    }),
    runs(20_000),
  )
})

test("a trace in _meta makes no other request; an argument of that name does", async () => {
  const memory = rememberAnswers(sdk.answer, () => library)
  const search = (given: object, trace: object = {}) => {
    const { params: known, headers } = modernCall(
      "tools/call",
      { name: "search_docs", arguments: given },
      "search_docs",
    )
    return [
      { method: "tools/call", params: { ...known, _meta: { ...known["_meta"], ...trace } } },
      callerOf(headers),
    ] as const
  }
  const refused = await memory(...search({ query: "guide", baggage: "x" }))
  expect("text" in refused && refused.text).toContain("baggage isn't an argument")
  const found = await memory(...search({ query: "guide" }))
  expect(found).toEqual(await sdk.answer(...search({ query: "guide" })))
  expect(await memory(...search({ query: "guide" }, { traceparent: "00-1-2-01", baggage: "x" }))).toBe(found)
})

test("after the pages change, no response uses the old ones", async () => {
  const ask = async (): Promise<string> => {
    const call = { method: "tools/call", params: { name: "fetch_page", arguments: { slug: "index" } } }
    const answer = await remembered(call, callerOf({}))
    return "text" in answer ? answer.text : ""
  }
  const before = library
  for (let i = 0; i < 3; i++) expect(await ask()).toContain("Welcome")
  library = libraryOf({ index: "# New\n\nChanged.\n" }, "v2")
  const after = await ask()
  library = before
  expect(after).toContain("Changed")
})
