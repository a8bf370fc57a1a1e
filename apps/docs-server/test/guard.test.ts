import { expect, test } from "vitest"
import { createGuard } from "../src/guard.ts"
import { rawGet } from "@svc/testing"
import { testServer } from "./start.ts"

const baseUrl = "https://docs.example.org"

test.each([
  ["localhost:4001", undefined, true],
  ["127.0.0.1:4001", undefined, true],
  ["127.8.9.10", undefined, true],
  ["[::1]:4001", undefined, true],
  ["docs.example.org", undefined, true],
  ["DOCS.example.org:443", undefined, true],
  ["named.example", undefined, true],
  ["localhost.:4001", "http://localhost.:4001", true],
  ["named.example.", "https://docs.example.org.", true],
  ["localhost..", undefined, false],
  ["evil.example", undefined, false],
  ["localhost.evil.example", undefined, false],
  ["127.0.0.1.evil.example", undefined, false],
  ["", undefined, false],
  [undefined, undefined, false],
  ["localhost@evil.example", undefined, false],
  ["localhost", "http://localhost:3000", true],
  ["localhost", "https://docs.example.org", true],
  ["localhost", "https://named.example", true],
  ["localhost", "https://evil.example", false],
  ["localhost", "null", false],
  ["localhost", "", false],
])("on a loopback listener Host %s with Origin %s is allowed: %s", (host, origin, welcome) => {
  for (const listenHost of ["127.0.0.1", "localhost", "::1"]) {
    const guard = createGuard({ listenHost, baseUrl, allowedHosts: ["named.example"] })
    expect(guard(host, origin)).toBe(welcome)
  }
})

test("on any other listener Host is checked only if names are set, and every Origin is allowed", () => {
  const open = createGuard({ listenHost: "0.0.0.0", baseUrl, allowedHosts: [] })
  expect([open("anything", "https://evil.example"), open(undefined, undefined)]).toEqual([true, true])
  const named = createGuard({ listenHost: "::", baseUrl, allowedHosts: ["named.example", "docs.svc.cluster.local."] })
  for (const name of ["named.example.", "docs.svc.cluster.local.:4001", "docs.svc.cluster.local"])
    expect(named(name, undefined)).toBe(true)
  expect(named("named.example:8080", "https://evil.example")).toBe(true)
  expect(named("docs.example.org", undefined)).toBe(true)
  expect(named("evil.example", undefined)).toBe(false)
})

test("a wrong Host or Origin is 403 forbidden, a malformed one 400, which no cache keeps, but /health responds", async () => {
  const server = await testServer()
  for (const path of ["/mcp", "/llms.txt"]) {
    const { status, headers, body } = await rawGet(server.url, path, { host: "evil.example" })
    expect([status, body.toString()]).toEqual([403, expect.stringContaining('"forbidden"')])
    expect(headers["cache-control"]).toBe("no-store")
    expect((await rawGet(server.url, path, { origin: "https://evil.example" })).status).toBe(403)
  }
  const { status, headers, body } = await rawGet(server.url, "/mcp", { host: "a/b" })
  expect([status, headers["cache-control"], JSON.parse(body.toString())]).toMatchObject([
    400,
    "no-store",
    { error: { code: "invalid_request", hint: expect.stringContaining("Host") } },
  ])
  expect((await rawGet(server.url, "/health", { host: "10.1.2.3" })).status).toBe(200)
})

test("above its limit of requests per minute a client gets 429 with Retry-After", async () => {
  const server = await testServer({ SVC_DOCS_REQUESTS_PER_MINUTE: "3" })
  for (let i = 0; i < 3; i++) expect((await fetch(`${server.url}/llms.txt`)).status).toBe(200)
  const response = await server.rpc("ping")
  expect([response.status, Number(response.headers.get("retry-after")) > 0]).toEqual([429, true])
  expect(await response.json()).toMatchObject({ error: { code: "rate_limited" } })
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
})
