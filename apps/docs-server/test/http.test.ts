import { createHash } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { gunzipSync, gzipSync, inflateRawSync } from "node:zlib"
import { accessSchema } from "@svc/openapi"
import { rawGet, responseChecker } from "@svc/testing"
import { expect, test } from "vitest"
import { z } from "zod"
import manifest from "../package.json" with { type: "json" }
import committed from "../openapi.json" with { type: "json" }
import { pagesOfFile } from "./pages.ts"
import { testFolder } from "../../../test/start-service.ts"
import { serverOfFile, testServer } from "./start.ts"

const pages = pagesOfFile()
const server = serverOfFile(() => ({
  SVC_DOCS_DIR: pages.dir,
  SVC_CLI_TARBALL: join(pages.dir, "svc.tgz"),
  SVC_CLIENT_TARBALL: join(pages.dir, "svc-client.tgz"),
}))
const check = responseChecker(committed)

const get = async (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> => {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { "accept-encoding": "identity", ...headers },
  })
  // A path template has no way to say that a slug may have slashes.
  const described = path.replace(/^\/guides\/.*?(\.md)?$/, "/page$1")
  return method === "GET" && response.status !== 304 ? check(method, described, response) : response
}
const errorOf = async (response: Response): Promise<unknown> => {
  const { error } = (await response.json()) as { error: { code: string; hint: string } }
  expect(error.hint).toMatch(/llms\.txt|openapi\.json|search_docs/)
  return [response.status, error.code]
}

test.each(["/", "/guides/one"])("%s is HTML for a browser, as the document says", async (path) => {
  const { headers } = await get(path, { accept: "text/html" })
  expect(headers.get("content-type")).toBe("text/html; charset=utf-8")
})

test("each operation is public, as its x-access says: Authorization never changes the status", async () => {
  const described = z.record(z.string(), z.record(z.string(), z.looseObject({ "x-access": accessSchema })))
  for (const [path, methods] of Object.entries(described.parse(committed.paths))) {
    for (const [method, about] of Object.entries(methods)) {
      expect(about["x-access"]).toEqual({ callers: ["anyone"] })
      const url = server.url + path.replace("{slug}", "guides/one").replace("{name}", "svc")
      const body = method === "post" ? { body: "{}" } : {}
      const statuses = [undefined, "Bearer svc_ak_x", "Basic eDp5"].map(async (authorization) => {
        const headers = { "content-type": "application/json", ...(authorization !== undefined && { authorization }) }
        return (await fetch(url, { method: method.toUpperCase(), headers, ...body })).status
      })
      const [without = 0, ...others] = await Promise.all(statuses)
      expect([401, 403]).not.toContain(without)
      expect(others).toEqual([without, without])
    }
  }
})

test.each([
  ["/", "text/markdown; charset=utf-8", "# Fixture docs"],
  ["/llms.txt", "text/plain; charset=utf-8", "/guides/one.md): The first guide."],
  ["/.well-known/mcp/server-card.json", "application/json; charset=utf-8", '"search_docs"'],
  ["/openapi.json", "application/json; charset=utf-8", '"3.1.0"'],
  ["/mcp", "application/json; charset=utf-8", '"streamable-http"'],
  ["/mcp/sse", "application/json; charset=utf-8", '"streamable-http"'],
  ["/.well-known/mcp.json", "application/json; charset=utf-8", '"streamable-http"'],
])("GET %s is %s, cacheable, and readable from any origin", async (path, type, text) => {
  const response = await get(path)
  expect(response.status).toBe(200)
  expect(await response.text()).toContain(text)
  const { headers } = response
  expect(headers.get("content-type")).toBe(type)
  expect(headers.get("cache-control")).toBe("public, max-age=300")
  expect(headers.get("vary")).toBe("Accept, Accept-Encoding")
  expect(headers.get("x-content-type-options")).toBe("nosniff")
  expect(headers.get("access-control-allow-origin")).toBe("*")
  const exposed = ["Mcp-Session-Id", ...Object.keys(committed.components.headers)]
  expect(headers.get("access-control-expose-headers")).toBe(exposed.join(", "))
  expect(headers.get("x-request-id")).toMatch(/.{8}/)
  if (type !== "application/json; charset=utf-8")
    expect(headers.get("link")).toBe('</llms.txt>; rel="describedby", </openapi.json>; rel="service-desc"')

  const again = await get(path, { "if-none-match": headers.get("etag") ?? "" })
  expect([again.status, await again.text()]).toEqual([304, ""])
  const head = await get(path, {}, "HEAD")
  expect([head.status, head.headers.get("etag"), await head.text()]).toEqual([200, headers.get("etag"), ""])
})

test("long texts are compressed if the client accepts it, and either form's ETag validates", async () => {
  const plain = await (await get("/openapi.json")).text()
  const packed = await rawGet(server.url, "/openapi.json", { "accept-encoding": "br;q=1, gzip;q=0.5" })
  expect(packed.headers["content-encoding"]).toBe("gzip")
  expect(gunzipSync(packed.body).toString()).toBe(plain)
  const etag = (await get("/openapi.json")).headers.get("etag") ?? ""
  const again = await get("/openapi.json", { "accept-encoding": "gzip", "if-none-match": `"other", W/${etag}` })
  expect(again.status).toBe(304)
  expect((await get("/openapi.json", { "accept-encoding": "gzip;q=0" })).headers.get("content-encoding")).toBeNull()
})

test("the descriptor names this server, its tools and its resource, even if a page has its path", async () => {
  const descriptor = (await (await get("/mcp")).json()) as Record<string, unknown>
  expect(descriptor).toMatchObject({
    name: "svc-docs",
    version: manifest.version,
    protocolVersion: "2026-07-28",
    transport: "streamable-http",
    endpoint: `${server.baseUrl}/mcp`,
    aliases: [`${server.baseUrl}/mcp/sse`],
    tools: [{ name: "search_docs" }, { name: "fetch_page" }],
    resources: [
      {
        uri: `${server.baseUrl}/skill.md`,
        name: "svc-platform",
        description: "What it does.",
        mimeType: "text/markdown",
      },
    ],
    prompts: [],
  })
  expect(descriptor["protocolVersions"]).toEqual(
    expect.arrayContaining(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]),
  )
})

test("a skill's digest in the index is the file's", async () => {
  const { skills } = (await (await get("/.well-known/agent-skills/index.json")).json()) as {
    skills: { name: string; url: string; digest: string }[]
  }
  const text = await (await get("/skills/svc/SKILL.md")).text()
  expect(skills).toMatchObject([
    {
      name: "svc",
      type: "skill-md",
      url: `${server.baseUrl}/skills/svc/SKILL.md`,
      digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
    },
  ])
})

test("a server without pages is alive but not ready, because its pages are missing", async () => {
  const empty = await testFolder()
  const other = await testServer({ SVC_DOCS_DIR: empty })
  const ready = await check("GET", "/readyz", await fetch(`${other.url}/readyz`))
  expect([ready.status, await ready.json()]).toEqual([503, { status: "unavailable", missing: ["pages"] }])
  expect((await fetch(`${other.url}/livez`)).status).toBe(200)
  expect((await get("/readyz")).status).toBe(200)
})

test.each(["/cli/svc.tgz", "/client/svc-client.tgz"])(
  "%s is 404 with a hint until it is built, then served",
  async (path) => {
    const missing = await get(path)
    expect(await missing.clone().json()).toMatchObject({
      error: { hint: expect.stringContaining("pnpm@12 build") },
    })
    expect(await errorOf(missing)).toEqual([404, "not_found"])
    await writeFile(join(pages.dir, basename(path)), gzipSync("packed"))
    const response = await get(path)
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/gzip"])
    // The first member of the gzip file, after its header: pnpm ignores all others.
    expect(inflateRawSync((await response.bytes()).subarray(10)).toString()).toMatch(
      path === "/cli/svc.tgz" ? /^package\/copy\.json.*packed$/s : /^packed$/,
    )
    expect((await get(path, { "if-none-match": response.headers.get("etag") ?? "" })).status).toBe(304)
  },
)

test("the test vectors for clients are JSON that any origin may read, whatever pages are served", async () => {
  const response = await get("/client/test-vectors.json")
  expect(response.headers.get("access-control-allow-origin")).toBe("*")
  expect(await response.json()).toMatchObject({ version: 1, outcomes: expect.any(Array) })
})

test.each(
  "/nothing /guides/two.md /mcp/other /skills/none/SKILL.md /%zz /% /health/x /cli /guides%00 /.git/config".split(" "),
)("%s is 404 not_found", async (path) => {
  expect(await errorOf(await fetch(`${server.url}${path}`))).toEqual([404, "not_found"])
})

test.each([
  "/../package.json",
  "/..%2fpackage.json",
  "/..%2f..%2fpackage.json",
  "/%2e%2e/%2e%2e/etc/passwd",
  "/guides/../../src/app.ts",
  "//etc/passwd",
  "/\\..\\x",
  "/guides/%2e%2e/%2e%2e/package",
])("%s never returns a file outside the pages", async (path) => {
  expect([400, 404]).toContain((await rawGet(server.url, path)).status)
})

test("a preflight returns the methods and headers that MCP clients send", async () => {
  const response = await fetch(`${server.url}/mcp`, {
    method: "OPTIONS",
    headers: { "access-control-request-method": "POST" },
  })
  expect(response.status).toBe(204)
  expect(response.headers.get("access-control-allow-methods")).toBe("GET, HEAD, POST, OPTIONS")
  expect(response.headers.get("access-control-allow-headers")).toBe(
    "Content-Type, Accept, Authorization, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, If-None-Match",
  )
})

const post = async (body: string, headers: Record<string, string>, path = "/mcp"): Promise<Response> =>
  check("POST", path, await fetch(`${server.url}${path}`, { method: "POST", headers, body }))
const json = { "content-type": "application/json" }
const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
const withParams = (params: object): string => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params })
const valuesOf = (count: number): string =>
  withParams(Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1])))
/** The message itself and its params are two of the levels. */
const nested = (levels: number): string =>
  withParams({ list: 0 }).replace(":0}", `:${"[".repeat(levels - 2)}${"]".repeat(levels - 2)}}`)
const icons = (count: number): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      clientInfo: { name: "a", version: "1", icons: Array(count).fill(0) },
      capabilities: {},
    },
  })

test.each([
  ["an array", `[${list}]`],
  ["more than 500 members", valuesOf(497)],
  ["more than 500 elements", withParams({ list: Array(496).fill(0) })],
  ["thousands of elements where the SDK reports each", icons(20_000)],
  ["more than 32 levels", nested(33)],
])("a body with %s is rejected before JSON-RPC is parsed", async (_, body) => {
  for (const path of ["/mcp", "/mcp/sse"])
    expect(await errorOf(await post(body, json, path))).toEqual([400, "invalid_request"])
})

test.each([
  ["a duplicate key", '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 'the key "id" stands twice in one object'],
  ["a byte order mark", `\ufeff${list}`, "the body begins with a byte order mark"],
  ["an end too early", list.slice(0, -1), "the body is not JSON (at position 45)"],
])("a body with %s is rejected for that reason", async (_, body, reason) => {
  expect(await (await post(body, json)).json()).toMatchObject({ error: { message: `In this request, ${reason}.` } })
})

test("a body of 500 values and 32 levels is accepted, whatever punctuation its strings contain", async () => {
  expect((await post(valuesOf(496), json)).status).toBe(200)
  expect((await post(nested(32), json)).status).toBe(200)
  expect((await post(withParams({ text: '[{,"'.repeat(2000) }), json)).status).toBe(200)
})

test("a body of exactly 64 KiB is accepted", async () => {
  const frame =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_docs","arguments":{"query":""}}}'
  const body = frame.replace('""', `"${"x".repeat(2 ** 16 - frame.length)}"`)
  expect(await (await post(body, json)).json()).toMatchObject({ result: { isError: true } })
})

test("an error links to its row on the errors page", async () => {
  const own = await testServer()
  const answers = [
    fetch(`${own.url}/nowhere`),
    fetch(`${own.url}/llms.txt`, { method: "POST" }),
    fetch(`${own.url}/mcp`, { method: "POST", body: "{}" }),
    fetch(`${own.url}/mcp`, { method: "POST", body: "{}", headers: { "content-type": "application/json" } }),
  ]
  for (const answer of await Promise.all(answers)) {
    const { error } = (await answer.json()) as { error: { code: string } }
    expect(answer.headers.get("link")).toBe(`</errors.md#docs-${error.code}>; rel="help"`)
  }
})
