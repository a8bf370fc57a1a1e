import { beforeEach, expect, test } from "vitest"
import { type Received, type Reply, startServer } from "./server.ts"
import { expectError, json, makeTool, resultOf } from "./tool.ts"

const results = [
  { slug: "keys", title: "Keys", section: "Rotate", anchor: "rotate", url: "u", snippet: "How to rotate", score: 2 },
]
let reply: (request: Received) => Reply
const tool = await makeTool()
const server = await startServer((request) => reply(request))
beforeEach(() => {
  server.received.length = 0
})

const svc = (...args: string[]) =>
  tool.svc(["docs", ...args], { env: { SVC_DOCS_URL: server.url, SVC_API_KEY: "svc_ak_secret" } })
const result = (value: unknown) => () => ({ body: { jsonrpc: "2.0", id: 1, result: value } })
const sent = (): unknown => JSON.parse(server.received[0]?.body ?? "null")

test("a search is one request, and never sends a key", async () => {
  const structuredContent = { query: "rotate a key", results, total: 1 }
  reply = result({ resultType: "complete", content: [{ type: "text", text: "…" }], structuredContent })
  expect(resultOf(await svc("search", "rotate", "a", "key", "--limit", "3", "--json"))).toEqual(structuredContent)
  expect(server.received).toMatchObject([{ method: "POST", target: "/mcp" }])
  expect(server.received[0]?.headers.authorization).toBeUndefined()
  expect(sent()).toMatchObject({ params: { name: "search_docs", arguments: { query: "rotate a key", limit: 3 } } })
  expect((await svc("search", "rotate")).stdout).toMatch(/Keys +keys#rotate\n +How to rotate\n/)
})

test("a search without results prints the server's hint", async () => {
  const structuredContent = { query: "the", results: [], total: 0 }
  reply = result({ content: [{ type: "text", text: "Only common words." }], structuredContent })
  expect(await svc("search", "the")).toMatchObject({ code: 0, stdout: "Only common words.\n" })
})

test("a page is printed as Markdown, and how to continue on standard error", async () => {
  const structuredContent = {
    slug: "keys",
    title: "Keys",
    content: "# Keys\n\n\tcode\n",
    truncated: true,
    next_cursor: "abc",
  }
  reply = result({ content: [], structuredContent })
  expect(await svc("fetch", "keys", "--section", "rotate", "--max-tokens", "100", "--cursor", "x")).toMatchObject({
    code: 0,
    stdout: "# Keys\n\n\tcode\n",
    stderr: "More: svc docs fetch keys --cursor abc\n",
  })
  expect(sent()).toMatchObject({
    params: { name: "fetch_page", arguments: { slug: "keys", section: "rotate", max_tokens: 100, cursor: "x" } },
  })
  expect(json(await svc("fetch", "keys", "--json"))).toEqual(structuredContent)
})

test("a tool's error fails with its text and the next command", async () => {
  reply = result({ isError: true, content: [{ type: "text", text: "No page x. Nearest: keys." }] })
  expectError(await svc("fetch", "x", "--json"), "tool-error", "No page x. Nearest: keys. Next: svc docs search QUERY")
  const fault = {
    code: "page-not-found",
    message: "No page x.",
    hint: "Nearest: keys. search_docs finds pages by words.",
  }
  reply = result({ isError: true, content: [{ type: "text", text: JSON.stringify(fault) }] })
  expectError(await svc("fetch", "x", "--json"), fault.code, "Nearest: keys. svc docs search finds pages by words.")
})

test("errors of JSON-RPC and HTTP fail with their codes, and so does any other response", async () => {
  reply = () => ({ status: 400, body: { jsonrpc: "2.0", id: 1, error: { code: -32022, message: "No such revision" } } })
  expectError(await svc("search", "x", "--json"), "mcp-error", "-32022")
  reply = () => ({
    status: 429,
    headers: { "retry-after": "7" },
    body: { error: { code: "rate_limited", message: "Slow down.", hint: "h" } },
  })
  expectError(await svc("search", "x", "--json"), "rate_limited", "Slow down. Try again in 7 s")
  for (const body of ["<html>", [], "", { jsonrpc: "2.0" }, { jsonrpc: "2.0", result: {} }]) {
    reply = () => ({ body })
    expectError(await svc("search", "x", "--json"), "unexpected-answer")
  }
})
