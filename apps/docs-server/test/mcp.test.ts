import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { sourceAt } from "@svc/common/json-text"
import { postJson } from "@svc/testing"
import { expect, test } from "vitest"
import manifest from "../package.json" with { type: "json" }
import { pagesOfFile } from "./pages.ts"
import { modernCall, serverOfFile } from "./start.ts"

const pages = pagesOfFile()
const server = serverOfFile(() => ({ SVC_DOCS_DIR: pages.dir }))

const modern = (
  method: string,
  params: Record<string, unknown> = {},
  name?: string,
  headers: Record<string, string> = {},
) => {
  const call = modernCall(method, params, name)
  return server.rpc(method, call.params, {}, { ...call.headers, ...headers })
}
type Rpc = { id: unknown; result: Record<string, unknown>; error: { code: number; message: string; data?: unknown } }
const bodyOf = async (response: Response): Promise<Rpc> => (await response.json()) as Rpc

test.each(["/mcp", "/mcp/sse"])("today's client lists, searches, reads and completes at %s", async (path) => {
  const client = new Client({ name: "test", version: "1" })
  const transport = new StreamableHTTPClientTransport(new URL(server.url + path))
  await client.connect(transport)
  try {
    expect(client.getServerVersion()).toMatchObject({ name: "svc-docs", version: manifest.version })
    expect(client.getInstructions()?.split(" ").length).toBeLessThan(120)
    expect(client.getInstructions()).toContain("the documentation of Fixture docs. All pages for the tests.")
    // The document describes fields where its readers look for it, the tools' own schemas stay as they are.
    await fetch(`${server.url}/openapi.json`)
    const { tools } = await client.listTools()
    const inputs = tools.flatMap(({ inputSchema }) => Object.values<object>(inputSchema.properties ?? {}))
    expect(inputs.filter((one) => !("type" in one && typeof one.type === "string"))).toEqual([])
    const descriptor = (await (await fetch(`${server.url}/mcp`)).json()) as { tools: unknown }
    expect(tools.map(({ execution: _execution, ...tool }) => tool)).toEqual(descriptor.tools)
    for (const { name, annotations, title, description } of tools) {
      expect(client.getInstructions()).toContain(name)
      expect([annotations, title, description]).toEqual([
        { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
        expect.any(String),
        expect.stringContaining("the Fixture docs documentation"),
      ])
    }
    const found = await client.callTool({ name: "search_docs", arguments: { query: "unique" } })
    expect(found.structuredContent).toMatchObject({ results: [{ slug: "guides/one" }] })
    const page = await client.callTool({ name: "fetch_page", arguments: { slug: "guides/one" } })
    expect(page.structuredContent).toMatchObject({ title: "One", truncated: false })
    for (const slug of [
      "skills/svc",
      `${server.baseUrl}/skills/svc/SKILL.md`,
      "llms.txt",
      `${server.baseUrl}/openapi.json`,
    ]) {
      const { structuredContent: text } = await client.callTool({ name: "fetch_page", arguments: { slug } })
      const { url, content, etag } = text as { url: string; content: string; etag: string }
      const served = await fetch(url)
      expect([slug, content, etag]).toEqual([slug, await served.text(), served.headers.get("etag")?.replace("W/", "")])
    }
    const parts: string[] = []
    for (let cursor: unknown = ""; cursor !== undefined;) {
      const args = { slug: "openapi.json", max_tokens: 1000, cursor }
      const { structuredContent } = await client.callTool({ name: "fetch_page", arguments: args })
      const part = structuredContent as { content: string; next_cursor?: string }
      parts.push(part.content)
      cursor = part.next_cursor
    }
    expect(parts.join("")).toBe(await (await fetch(`${server.url}/openapi.json`)).text())
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(4000)
    const elsewhere = { name: "fetch_page", arguments: { slug: "https://other.example/llms.txt" } }
    expect(await client.callTool(elsewhere)).toMatchObject({ isError: true })
    const { resources } = await client.listResources()
    expect(resources.map(({ uri, name }) => [uri, name])).toEqual([
      [`${server.baseUrl}/skill.md`, "svc-platform"],
      [`${server.baseUrl}/agent.md`, "svc-agent"],
    ])
    const read = await client.readResource({ uri: `${server.baseUrl}/guides/one.md` })
    expect(read.contents[0]).toMatchObject({ mimeType: "text/markdown", text: expect.stringContaining("Unique text") })
    const { resourceTemplates } = await client.listResourceTemplates()
    const ref = { type: "ref/resource" as const, uri: resourceTemplates[0]?.uriTemplate ?? "" }
    const { completion } = await client.complete({ ref, argument: { name: "slug", value: "guides" } })
    expect(completion.values).toEqual(["guides/one", "guides"].sort())
    expect((await client.listPrompts()).prompts).toEqual([])
    await client.ping()
  } finally {
    await client.close()
  }
})

test.each(["2026-07-28", "legacy"])("the next client generation does the same (%s)", async (mode) => {
  const client = new ModernClient(
    { name: "test", version: "1" },
    mode === "legacy" ? {} : { versionNegotiation: { mode: "auto" } },
  )
  await client.connect(new ModernTransport(new URL(`${server.url}/mcp`)))
  try {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["search_docs", "fetch_page"])
    const found = await client.callTool({ name: "search_docs", arguments: { query: "unique" } })
    expect(found.structuredContent).toMatchObject({ results: [{ slug: "guides/one" }] })
    const refused = await client.callTool({ name: "fetch_page", arguments: { slug: "nope" } })
    expect(refused.isError).toBe(true)
  } finally {
    await client.close()
  }
})

const unchanging = { listChanged: false }

test.each([
  ["2024-11-05", "2024-11-05"],
  ["2025-03-26", "2025-03-26"],
  ["2025-06-18", "2025-06-18"],
  ["2025-11-25", "2025-11-25"],
  ["2026-07-28", "2025-11-25"],
  ["1999-01-01", "2025-11-25"],
])("initialize with %s returns %s, whatever the header says", async (asked, given) => {
  const params = { protocolVersion: asked, capabilities: {}, clientInfo: { name: "a", version: "1" } }
  const headers: Record<string, string>[] = [
    {},
    { "mcp-protocol-version": "2026-07-28" },
    { "mcp-protocol-version": asked },
  ]
  for (const header of headers) {
    const response = await server.rpc("initialize", params, {}, header)
    expect(response.status).toBe(200)
    expect((await bodyOf(response)).result).toMatchObject({
      protocolVersion: given,
      serverInfo: { name: "svc-docs" },
      // Nobody is notified.
      capabilities: { tools: unchanging, resources: unchanging, prompts: unchanging },
    })
  }
})

test("responses are JSON for every revision, whatever Accept says", async () => {
  for (const accept of [
    "application/json",
    "text/event-stream",
    "*/*",
    "text/html",
    "application/json, text/event-stream",
  ]) {
    const old = await server.rpc("tools/list", {}, {}, { accept })
    const next = await modern("tools/list", {}, undefined, { accept })
    for (const response of [old, next]) {
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"])
      expect((await bodyOf(response)).result["tools"]).toHaveLength(2)
    }
  }
})

test("a result of 2026-07-28 has its type, server and cache lifetime; every list of revisions is complete", async () => {
  expect((await bodyOf(await modern("tools/list"))).result).toMatchObject({
    resultType: "complete",
    ttlMs: 60_000,
    cacheScope: "public",
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "svc-docs" } },
  })
  const unknown = await bodyOf(await server.rpc("tools/list", {}, {}, { "mcp-protocol-version": "1999-01-01" }))
  const descriptor = (await (await fetch(`${server.url}/mcp`)).json()) as { protocolVersions: string[] }
  const discovered = await bodyOf(await modern("server/discover"))
  expect(discovered.result).toMatchObject({ supportedVersions: descriptor.protocolVersions })
  expect(unknown.error.data).toMatchObject({ supported: descriptor.protocolVersions, requested: "1999-01-01" })
})

test.each([
  ['"text"', '"text"'],
  ['""', '""'],
  ["0", "0"],
  ["-7", "-7"],
  ["null", "null"],
  ["1.0", "1.0"],
  ["1.5", "1.5"],
  ["-0", "-0"],
  ["1e3", "1e3"],
  ["12345678901234567890", "12345678901234567890"],
  ['"\\u00e9\\ud83d\\ude00"', '"é😀"'],
])("the id %s is returned exactly as sent, in results and errors", async (sent, echoed) => {
  for (const method of ["ping", "tools/list", "no/such"])
    for (const headers of [{}, modernCall(method).headers]) {
      // Other members called id, and strings that look like one.
      const own = { ...("mcp-method" in headers && modernCall(method).params), deep: { id: 8 }, a: '"id":8,' }
      const body = `{"\\u0069d" : ${sent},"params":${JSON.stringify(own)},"method":"${method}","jsonrpc":"2.0"}`
      const response = await postJson(`${server.url}/mcp`, body, headers)
      const text = await response.text()
      expect(sourceAt(text, ["id"])).toBe(echoed)
    }
})

test("a message that needs no response gets 202 without a body, in every revision", async () => {
  const messages = [
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
    { jsonrpc: "2.0", method: "no/such/notification" },
    { jsonrpc: "2.0", method: "tools/list" },
    { jsonrpc: "2.0", id: 1, result: {} },
    { jsonrpc: "2.0", id: 1, error: { code: 1, message: "x" } },
  ]
  for (const message of messages)
    for (const headers of [{}, { "mcp-protocol-version": "2026-07-28" }]) {
      const response = await postJson(`${server.url}/mcp`, message, headers)
      expect([response.status, await response.text()]).toEqual([202, ""])
    }
})

test("before 2026-07-28, JSON-RPC errors have status 200", async () => {
  const codes: [string, object, number][] = [
    ["no/such", {}, -32601],
    ["server/discover", {}, -32601],
    ["logging/setLevel", { level: "info" }, -32601],
    ["tools/call", { name: "no_such_tool" }, -32602],
    ["tools/call", {}, -32602],
    ["tools/call", { name: "search_docs", arguments: "text" }, -32602],
    ["initialize", {}, -32602],
    ["resources/read", {}, -32602],
    ["resources/read", { uri: "nowhere" }, -32602],
    ["resources/read", { uri: `${server.baseUrl}/none.md` }, -32602],
    ["prompts/get", { name: "none" }, -32602],
    ["completion/complete", {}, -32602],
    ["ping", { _meta: 5 }, -32602],
  ]
  for (const [method, params, code] of codes)
    for (const headers of [{}, { "mcp-protocol-version": "2025-06-18" }]) {
      const response = await server.rpc(method, params, {}, headers)
      const { error } = await bodyOf(response)
      expect([method, response.status, error.code]).toEqual([method, 200, code])
      expect(error.message).not.toMatch(/[[{]\s*\n/)
    }
})

test("2026-07-28 has the statuses that the revision requires", async () => {
  const search = { name: "search_docs", arguments: { query: "x" } }
  const version = (revision: string) => ({ "mcp-protocol-version": revision })
  const cases: [sent: Promise<Response>, status: number, code: number][] = [
    [modern("no/such"), 404, -32601],
    [modern("ping"), 404, -32601],
    [modern("tools/call", { name: "nope" }, "nope"), 200, -32602],
    [modern("tools/list", {}, undefined, { "mcp-method": "tools/call" }), 400, -32020],
    [modern("tools/call", search, "fetch_page"), 400, -32020],
    [modern("tools/call", search), 400, -32020],
    [modern("tools/list", {}, undefined, version("2099-01-01")), 400, -32020],
    [server.rpc("tools/list", {}, {}, version("2026-07-28")), 400, -32602],
  ]
  for (const [sent, status, code] of cases) {
    const response = await sent
    expect([response.status, (await bodyOf(response)).error.code]).toEqual([status, code])
  }
})

test.each(["1999-01-01", "2099-01-01", "latest", "undefined", ""])(
  "a version header %j without _meta gets the revisions that are served, not the advice to add _meta",
  async (named) => {
    for (const params of [undefined, {}, { _meta: { progressToken: 1 } }]) {
      const response = await server.rpc("tools/list", params, {}, { "mcp-protocol-version": named })
      const { error } = await bodyOf(response)
      expect([response.status, error.code, error.message]).toEqual([
        400,
        -32022,
        `Unsupported protocol version: ${named}`,
      ])
      expect(error.data).toMatchObject({ requested: named, supported: expect.arrayContaining(["2025-11-25"]) })
    }
  },
)

test("headers that a client repeats count once, as merged spellings of a name send them", async () => {
  const version = (value: string) => ({ "mcp-protocol-version": value })
  const name = "search_docs"
  const search = ["tools/call", { name, arguments: { query: "x" } }, `${name}, ${name}`] as const
  const repeated = { ...version("2026-07-28,2026-07-28"), "mcp-method": "tools/call, tools/call" }
  const stream = (value: string) =>
    fetch(`${server.url}/mcp`, { method: "HEAD", headers: { accept: "text/event-stream", ...version(value) } })
  const sent = [
    server.rpc("tools/list", {}, {}, version("2025-11-25, 2025-11-25")),
    server.rpc("tools/list", {}, {}, version("2025-11-25, 2025-06-18")),
    modern(...search, repeated),
    stream("2025-11-25, 2025-11-25"),
    stream("2025-11-25, 2025-06-18"),
  ]
  const statuses = (await Promise.all(sent)).map(({ status }) => status)
  expect(statuses).toEqual([200, 400, 200, 200, 400])
})

test("a request without the header uses an earlier revision, whatever its body says", async () => {
  const response = await server.rpc("tools/list", modernCall("tools/list").params)
  expect(response.status).toBe(200)
  expect((await bodyOf(response)).result).not.toHaveProperty("resultType")
})

test("the text of a search result matches its data", async () => {
  const { result } = await bodyOf(
    await server.rpc("tools/call", { name: "search_docs", arguments: { query: "guide" } }),
  )
  const { results } = result["structuredContent"] as { results: { title: string; url: string; snippet: string }[] }
  const [{ text = "" } = {}] = result["content"] as { text?: string }[]
  for (const { title, url, snippet } of results) for (const part of [title, url, snippet]) expect(text).toContain(part)
})

test("the page's table of revisions has every served one, and its gaps are real", async () => {
  const page = await readFile(join(import.meta.dirname, "../content/mcp-server.md"), "utf8")
  const [, table = ""] = /^\| Revision .*\n.*\n((?:\|.*\n)+)/m.exec(page) ?? []
  const rows = table.split("\n").map((row) => row.split(" | "))
  const { protocolVersions } = (await (await fetch(`${server.url}/mcp`)).json()) as { protocolVersions: string[] }
  expect(rows.flatMap(([first = ""]) => first.match(/\d{4}-\d\d-\d\d/g) ?? [])).toEqual(protocolVersions)
  const lacking = (text: string) => rows.filter((row) => row.at(-1)?.startsWith(text)).map(([first]) => first)
  expect([lacking("Batches"), lacking("The HTTP+SSE transport")]).toEqual([
    ["| 2025-03-26"],
    ["| 2024-11-05, 2024-10-07"],
  ])
  const batch = [{ jsonrpc: "2.0", id: 1, method: "ping" }]
  const headers = { "mcp-protocol-version": "2025-03-26" }
  expect((await postJson(`${server.url}/mcp`, batch, headers)).status).toBe(400)
  const stream = await fetch(`${server.url}/mcp/sse`, { headers: { accept: "text/event-stream" } })
  const first = await stream.body?.getReader().read()
  // HTTP+SSE would begin with the event "endpoint".
  expect(new TextDecoder().decode(first?.value)).toBe(": open\n\n")
})
