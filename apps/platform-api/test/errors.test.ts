import { afterAll, beforeAll, expect, test } from "vitest"
import committed from "../openapi.json" with { type: "json" }
import { errors } from "../src/errors.ts"
import { operate } from "./program.ts"
import { createTestDatabase } from "@svc/testing"
import { startTestService, type TestService } from "./service.ts"

let service: TestService
let key: string
beforeAll(async () => {
  service = await startTestService("postgres", { SVC_SAMPLE_STACKS: "true" })
  key = (await service.signUp()).key
})
afterAll(() => service.close())

test("every error but the one that nobody can mend says the next step", () => {
  const without = Object.entries(errors.rows).filter(
    ([, row]) => row.hint === undefined || !/^[A-Z].*\.$/.test(row.hint),
  )
  expect(without.map(([code]) => code)).toEqual(["not-implemented"])
})

test("every code of the table is described at an operation", () => {
  const text = JSON.stringify(committed)
  const described = Object.keys(errors.rows).filter((code) => text.includes(`"${code}"`))
  // What no described operation can answer: other paths and methods do.
  const elsewhere = new Set(["not-found", "method-not-allowed", "not-implemented"])
  expect(described).toEqual(Object.keys(errors.rows).filter((code) => !elsewhere.has(code)))
})

const own = "/api/agents/me/keys"
const json = { "content-type": "application/json" }
const stream = "ws://localhost:4004/transfers"

test.each<[string, string, object, string, string, string]>([
  ["POST", "/api/agents/signup", { body: { display_name: 7 } }, "invalid-request", "display_name", "must be a string"],
  [
    "POST",
    "/api/agents/signup",
    { body: { display_name: "" } },
    "invalid-display-name",
    "display_name",
    "must have 1 to 64",
  ],
  ["POST", "/api/agents/signup", { body: [] }, "invalid-request", "", "must be an object"],
  ["POST", "/api/agents/signup", { raw: "{", headers: json }, "invalid-json", "", "the body is not JSON"],
  ["POST", "/api/agents/signup", { headers: { "sec-fetch-site": "cross-site" } }, "invalid-request", "", "other sites"],
  ["POST", own, { body: { name: " " } }, "invalid-key-name", "name", "must have 1 to 64"],
  [
    "POST",
    own,
    { body: { expires_in_days: 0 } },
    "invalid-request",
    "expires_in_days",
    "must be an integer from 1 to 3650",
  ],
  [
    "POST",
    own,
    { body: { expires_in_days: 4000 } },
    "invalid-request",
    "expires_in_days",
    "must be an integer from 1 to 3650",
  ],
  ["DELETE", `${own}/x`, {}, "invalid-key-id", "id", "must be a number"],
  ["POST", `${own}/publishable`, { body: {} }, "missing-origin-allowlist", "origin_allowlist", "is missing"],
  [
    "POST",
    `${own}/publishable`,
    { body: { origin_allowlist: [] } },
    "origin-allowlist-empty",
    "origin_allowlist",
    "one origin",
  ],
  [
    "POST",
    `${own}/publishable`,
    { body: { origin_allowlist: ["*"] } },
    "origin-invalid-scheme",
    "origin_allowlist[0]",
    "http://",
  ],
  [
    "POST",
    `${own}/publishable`,
    { body: { origin_allowlist: ["http://a/b"] } },
    "invalid-origin",
    "origin_allowlist[0]",
    "a scheme",
  ],
  ["POST", "/ws/sessions", { body: {} }, "invalid-request", "websocket_url", "is missing"],
  ["POST", "/ws/sessions", { body: { websocket_url: 7 } }, "invalid-request", "websocket_url", "must be a string"],
  ["POST", "/ws/sessions", { body: { websocket_url: "http://a" } }, "invalid-websocket-url", "websocket_url", "ws://"],
  [
    "POST",
    "/ws/sessions",
    { body: { websocket_url: stream, scopes: ["read", "x"] } },
    "invalid-scope",
    "scopes[1]",
    "other than",
  ],
  [
    "POST",
    "/ws/sessions",
    { body: { websocket_url: stream, scope: "" } },
    "invalid-scope",
    "scope",
    "must not be empty",
  ],
  [
    "POST",
    "/ws/sessions",
    { body: { websocket_url: "ws://nowhere/x" } },
    "agent-account-forbidden",
    "websocket_url",
    "public stack",
  ],
  ["GET", "/api/registry?include=x", {}, "invalid-request", "include", "can only be schema"],
  ["GET", `/api/registry?q=${"x".repeat(201)}`, {}, "invalid-request", "q", "must be at most 200 characters"],
  ["GET", "/api/specs?limit=0", {}, "invalid-request", "limit", "must be an integer from 1 to 100"],
  ["GET", "/api/specs/x", {}, "invalid-request", "id", "must be a number"],
])(
  "%s %s names what is wrong in our own words, and the next step (%o)",
  async (method, path, call, code, at, reason) => {
    const { body } = await service.call(method, path, { key, ...call })
    expect(body).toMatchObject({ code, details: { path: at }, hint: expect.stringMatching(/\.$/) })
    expect(body.details.reason).toContain(reason)
    expect(body.details.reason).not.toMatch(/Invalid|expected|received/)
  },
)

test("a 401 tells a key that was sent from none, and a mistyped key from one that is not known", async () => {
  const ask = async (authorization?: string) => {
    const { headers, body } = await service.call("GET", "/api/agents/me", {
      headers: authorization === undefined ? {} : { authorization },
    })
    return [headers.get("www-authenticate"), body.error]
  }
  expect((await ask())[0]).toBe("Bearer")
  expect((await ask("nonsense"))[0]).toBe("Bearer")
  expect(await ask(`Bearer ${key}x`)).toEqual(['Bearer error="invalid_token"', expect.stringContaining("mistyped")])
  const gone = (await service.call("POST", own, { key })).body
  await service.call("DELETE", `${own}/${gone.id}`, { key })
  expect(await ask(`Bearer ${gone.key}`)).toEqual(['Bearer error="invalid_token"', "The API key is unknown."])
})

test("this machine's three names are one host for a token, and what is left of the limit is told, refused or not", async () => {
  const mint = (websocket_url: string) =>
    service.call("POST", "/ws/sessions", { key, body: { websocket_url }, from: "192.0.2.9" })
  let left = 60
  for (const host of ["localhost", "127.0.0.1", "[::1]", "LOCALHOST", "127.1"]) {
    const { status, headers } = await mint(`ws://${host}:4004/transfers`)
    left--
    expect([host, status, headers.get("ratelimit-policy")]).toEqual([host, 200, '"default";q=60;w=60'])
    expect(headers.get("ratelimit")).toMatch(new RegExp(`^"default";r=${left};t=\\d+$`))
  }
  for (const other of [
    "ws://localhost:4003/transfers",
    "wss://localhost:4004/transfers",
    "ws://127.0.0.2:4004/transfers",
  ]) {
    const { status, headers } = await mint(other)
    expect([other, status, headers.has("ratelimit")]).toEqual([other, 403, true])
  }
  expect((await mint("nonsense")).headers.has("ratelimit")).toBe(true)
  const unknown = await service.call("POST", "/ws/sessions", { key: `${key}x`, body: {} })
  expect([unknown.status, unknown.headers.has("ratelimit")]).toEqual([401, false])
})

test("samples at their former default URL move to the stream, the operator's own stacks stay where they are", async () => {
  const database = await createTestDatabase()
  const env = { DATABASE_URL: database.url, SVC_SAMPLE_STACKS: "true" }
  const publish = (name: string, url: string) =>
    operate(["stack", "publish", "stacks/name-service.stack.json", "--name", name, "--websocket-url", url], env)
  try {
    await publish("transfers", "ws://127.0.0.1:4002/transfers")
    await publish("names", "ws://127.0.0.1:4002/names")
    await publish("mine", "ws://127.0.0.1:4002/token-swaps")
    const SVC_STREAM_URL = "ws://127.0.0.1:5004/"
    const started = await startTestService("postgres", { ...env, SVC_STREAM_URL })
    try {
      const { body } = await started.call("GET", "/api/registry")
      const urls = body.map((stack: { name: string; websocket_url: string }) => [stack.name, stack.websocket_url])
      expect(urls).toEqual([
        ["mine", "ws://127.0.0.1:4002/token-swaps"],
        ["name-service", "ws://127.0.0.1:5004/name-service"],
        ["names", "ws://127.0.0.1:4002/names"],
        ["stake-accounts", "ws://127.0.0.1:5004/stake-accounts"],
        ["token-swaps", "ws://127.0.0.1:5004/token-swaps"],
        ["transfers", "ws://127.0.0.1:5004/transfers"],
      ])
      const { body: moved } = await started.call("GET", "/api/registry/transfers/schema")
      expect(moved.schema.stack_name).toBe("NameServiceStream")
    } finally {
      await started.close()
    }
  } finally {
    await database.stop()
  }
})

test("what an operator publishes before the first start stays, and another stack can't have its URL in another spelling", async () => {
  const database = await createTestDatabase()
  const env = { DATABASE_URL: database.url, SVC_SAMPLE_STACKS: "true" }
  const publish = (name: string, url: string) =>
    operate(["stack", "publish", "stacks/name-service.stack.json", "--name", name, "--websocket-url", url], env)
  try {
    expect((await publish("transfers", "wss://mine.example/transfers")).code).toBe(0)
    expect((await publish("swaps", "ws://localhost:4004/token-swaps")).code).toBe(0)
    const taken = await publish("other", "ws://[::1]:4004/token-swaps/")
    expect([taken.code, taken.json.code]).toEqual([1, "websocket-url-taken"])
    const started = await startTestService("postgres", env)
    try {
      const { body } = await started.call("GET", "/api/registry")
      expect(body.map((stack: { name: string; websocket_url: string }) => [stack.name, stack.websocket_url])).toEqual([
        ["name-service", "ws://127.0.0.1:4004/name-service"],
        ["stake-accounts", "ws://127.0.0.1:4004/stake-accounts"],
        ["swaps", "ws://localhost:4004/token-swaps"],
        ["transfers", "wss://mine.example/transfers"],
      ])
    } finally {
      await started.close()
    }
  } finally {
    await database.stop()
  }
}, 120_000)
