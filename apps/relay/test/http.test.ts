import { rawExchange } from "@svc/testing"
import { expect, test, vi } from "vitest"
import { routes } from "../src/routes/table.ts"
import { result } from "./fake-rpc.ts"
import { fileRelay, fileRpc, type RelayOptions, startIssuer, testRelay } from "./fixture.ts"
import { base58 } from "@svc/common/base58"
import { firstSignatureOf } from "@svc/testing/solana"
import { anyTransaction } from "./transactions.ts"

const rpc = fileRpc((r) => result(r, "1"))
const relay = fileRelay(rpc)

const paths = routes.map(({ path }) => path)

test("the bare address returns the URLs of the OpenAPI document and the documentation", async () => {
  const answer = await fetch(`${relay.url}/`)
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({
    name: "svc-relay",
    version: expect.any(String),
    docs: "http://localhost:4001",
    openapi: "http://localhost:4002/openapi.json",
    health: "http://localhost:4002/health",
  })
})

test("an unknown method is 405 with Allow, and preflights succeed for any origin", async () => {
  const unknown = await rawExchange(relay.port, `BREW ${paths[0]} HTTP/1.1\r\nHost: x\r\n\r\n`)
  expect(unknown).toMatch(/^HTTP\/1\.1 405 .*\nallow: GET, HEAD, POST, OPTIONS\r\n.*"code":"method_not_allowed"/is)
  for (const path of paths) {
    const preflight = await relay.request(path, {
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-method": "POST" },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get("access-control-allow-methods")).toBe("POST, OPTIONS")
    expect(preflight.headers.get("access-control-allow-headers")).toBe("Authorization, Content-Type")
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull()
    for (const name of ["X-Request-Id", "X-Error-Code", "X-Svc-Upstream-Attempted", "Retry-After"]) {
      expect(preflight.headers.get("access-control-expose-headers")).toContain(name)
    }
  }
})

test.each([
  [{ "content-type": "text/plain" }, "the body must be JSON with Content-Type: application/json"],
  [{ "content-encoding": "gzip" }, "the body must not be compressed (Content-Encoding)"],
])("what makes %j a 415 is said in a sentence", async (headers, reason) => {
  const { status, body } = await relay.post("block-height", {}, headers)
  expect([status, body.message]).toEqual([415, `In this request, ${reason}.`])
})

test("a path is served only as it is written", async () => {
  const head = "POST /transactions/x/../v1/s%65nd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
  expect(await rawExchange(relay.port, head)).toMatch(/^HTTP\/1.1 404 [^]*"not_found"/)
})

test("a bug is a 500 without details, on send with submissionState, and is logged without its message", async () => {
  const secret = "do-not-log-this"
  const authorize = () => Promise.reject(new TypeError(secret))
  const lines: unknown[] = []
  const own = await testRelay(rpc.url, { auth: { authorize }, lines })
  const answer = await own.post("send", {})
  expect(answer).toMatchObject({ status: 500, body: { code: "internal_error", submissionState: "not_submitted" } })
  expect(answer.text + JSON.stringify(lines)).not.toContain(secret)
  expect(lines).toContainEqual([expect.objectContaining({ error: "TypeError" }), "a request failed"])
})

const fail = (): never => {
  throw new Error("a bug")
}
const idle = { begin: () => {}, end: () => {}, denied: () => {}, upstream: () => {} }
const late: [string, string, string, RelayOptions?][] = [
  ["without a free place", "server_busy", "not_submitted", { env: { SVC_TRANSACTION_SEND_CONCURRENCY: "0" } }],
  [
    "to a closed port",
    "upstream_unavailable",
    "not_submitted",
    { env: { SVC_TRANSACTION_SEND_URL: "http://127.0.0.1:9" } },
  ],
  ["with another result", "submission_unknown", "unknown"],
  ["before a bug after the call", "internal_error", "unknown", { metrics: { ...idle, upstream: fail } }],
  ["before a bug after its success", "internal_error", "unknown", { usage: { record: fail, flush: async () => {} } }],
]

test.each(late)("every error of a send after the wire checks has its signature: one %s, %s", async (...row) => {
  const [, code, submissionState, options] = row
  const own = await testRelay(rpc.url, options)
  const transaction = await anyTransaction()
  const signature = base58(firstSignatureOf(transaction))
  if (options?.usage !== undefined) rpc.script((r) => result(r, JSON.stringify(signature)))
  expect((await own.post("send", { transaction })).body).toMatchObject({ code, submissionState, signature })
  rpc.script((r) => result(r, "1"))
})

test("disabled routes are unknown paths for any method, and no token is checked", async () => {
  const authorize = () => Promise.reject(new Error("was asked"))
  const own = await testRelay(rpc.url, { env: { SVC_TRANSACTIONS_ENABLED: "false" }, auth: { authorize } })
  for (const path of paths) {
    for (const method of ["POST", "GET", "OPTIONS", "DELETE"]) {
      expect(await own.request(path, { method })).toMatchObject({ status: 404, body: { code: "not_found" } })
    }
  }
  expect((await own.request("/health", { method: "GET" })).body).toEqual({
    status: "ok",
    version: "1.0.0",
    limits: "local",
    transactions: { enabled: false },
  })
  expect((await own.request("/openapi.json", { method: "GET" })).body.openapi).toBe("3.1.0")
})

test("a WebSocket upgrade is 501 not_implemented, on any path", async () => {
  for (const path of ["/transfers", "/", "/transactions/v1/send"]) {
    const answer = await rawExchange(
      relay.port,
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n` +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    )
    expect(answer).toMatch(/^HTTP\/1\.1 501 /)
    expect(answer.toLowerCase()).toContain("x-error-code: not_implemented")
    expect(answer).toContain('"code":"not_implemented"')
  }
})

test("a body that hasn't arrived after 10 seconds is 408, and the connection is closed", async () => {
  let asked = (): void => {}
  const authorized = new Promise<void>((resolve) => (asked = resolve))
  const authorize = () => {
    asked()
    return Promise.resolve({ scopes: ["transaction:send"], claims: {} })
  }
  const own = await testRelay(rpc.url, { auth: { authorize } })
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  const answer = rawExchange(
    own.port,
    "POST /transactions/v1/send HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
  )
  await authorized
  await vi.advanceTimersByTimeAsync(9_999)
  await vi.advanceTimersByTimeAsync(1)
  vi.useRealTimers()
  const text = await answer
  expect(text).toMatch(/^HTTP\/1\.1 408 /)
  expect(text.toLowerCase()).toContain("connection: close")
  expect(text).toMatch(/"code":"request_timeout".*"retryable":true.*"submissionState":"not_submitted"/)
})

test("a head that can't be parsed as a request is a clear 400 with the relay's headers", async () => {
  const head = "POST /transactions/v1/send HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n"
  const answer = await rawExchange(relay.port, head)
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*x-svc-upstream-attempted: false.*"submissionState":"not_submitted"/is)
  expect(answer.toLowerCase()).toContain("x-error-code: invalid_request")
})

test("the order of checks is address, token, scope, subject, type, size, JSON, wire", async () => {
  const issuer = await startIssuer()
  const own = await testRelay(rpc.url, {
    auth: issuer.plugin,
    // A request that its subject's limit rejects doesn't count for its address.
    env: { SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: "7", SVC_TRANSACTION_MAX_BODY_BYTES: "60" },
  })
  const limits = { max_transaction_send_requests_per_minute: 4 }
  const inspector = await issuer.bearer({ scope: "transaction:inspect" })
  const sender = await issuer.bearer({ limits })
  const text = { "content-type": "text/plain" }
  const big = { transaction: "%".repeat(80) }
  const codes = [
    await own.post("send", big, text),
    await own.post("send", big, { ...text, ...inspector }),
    await own.post("send", big, { ...text, ...sender }),
    await own.post("send", big, sender),
    await own.post("send", { transaction: "%", other: 1 }, sender),
    await own.post("send", { transaction: "%" }, sender),
    await own.post("send", big, { ...text, ...sender }),
    await own.post("send", big, text),
    await own.post("send", big, text),
  ].map(({ body }) => body.code)
  expect(codes).toEqual([
    "token-missing",
    "insufficient_scope",
    "unsupported_media_type",
    "request_too_large",
    "invalid_request",
    "invalid_base64",
    "rate_limit_exceeded",
    "token-missing",
    "rate_limit_exceeded",
  ])
})
