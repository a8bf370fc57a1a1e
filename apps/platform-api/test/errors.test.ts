import { expect, test } from "vitest"
import committed from "../openapi.json" with { type: "json" }
import { nameLength } from "../src/auth/name.ts"
import { type ErrorCode, errors } from "../src/errors.ts"
import { signUpBytes } from "../src/routes/accounts/agents.ts"
import { sampleText } from "./registry/small-ast.ts"
import { beforeTests, publishStack, serviceInTest, testService } from "./service.ts"

const service = testService("postgres", { SVC_SAMPLE_STACKS: "true" })
const agent = beforeTests(() => service.signUp())

test("every code of the table is documented for an operation", () => {
  const text = JSON.stringify(committed)
  const described = Object.keys(errors.rows).filter((code) => text.includes(`"${code}"`))
  // What no described operation can answer: other paths and methods do.
  const elsewhere = new Set(["not-found", "method-not-allowed"])
  expect(described).toEqual(Object.keys(errors.rows).filter((code) => !elsewhere.has(code)))
})

test("the document says how long a name may be, as its error does", () => {
  const text = JSON.stringify(committed.paths)
  const described = text.match(/"(?:display_name|name)":\{[^{}]*"description":"The name [^"]*"/g) ?? []
  expect(described.length).toBeGreaterThan(6)
  expect(described.filter((one) => !one.includes(nameLength))).toEqual([])
})

const own = "/api/agents/me/keys"
const stream = "ws://localhost:4004/transfers"
const raw = (text: string) => ({ raw: text, headers: { "content-type": "application/json" } })
const origins = (origin_allowlist: unknown) => ({ body: { origin_allowlist } })
const session = (rest: object, websocket_url: unknown = stream) => ({ body: { websocket_url, ...rest } })
const days = "must be an integer from 1 to 3650"
/** A body is counted before it is validated. */
const zeros = (count: number) => Array.from({ length: count }, () => 0)
const packed = { raw: "{}", headers: { "content-type": "application/json", "content-encoding": "gzip" } }
const scopes = "has a scope other than read, transaction:inspect, transaction:send"

type Refusal = readonly [call: object, code: ErrorCode, path: string, reason: string]

// No record is looked for before its page is one that can be.
const lists = Object.entries(committed.paths)
  .filter(([path, methods]) => JSON.stringify(methods).includes('"name":"offset"') && !path.startsWith("/api/auth"))
  .map(([path]) => path.replace(/\{\w+\}/, "999999"))

const pagesOf = (list: string): Record<string, readonly Refusal[]> => {
  const outside = (field: string, range: string, ...values: string[]) =>
    values.map((value) => [`GET ${list}?${field}=${value}`, [[{}, "invalid-request", field, range]]])
  return Object.fromEntries([
    ...outside("limit", "must be an integer from 1 to 100", "0", "101", "x", "", "1e1"),
    ...outside("offset", "must be an integer from 0 to 1000000", "-1", "1000001", "1.5"),
  ])
}

/** Calls with the code, the place and the reason of the response to each. */
const refusals: Readonly<Record<string, readonly Refusal[]>> = {
  "POST /api/agents/signup": [
    [{ body: { display_name: 7 } }, "invalid-request", "display_name", "must be a string"],
    [{ body: { display_name: " " } }, "invalid-display-name", "display_name", "must have 1 to 64 visible characters"],
    [raw('{"display_name":" "}'.padEnd(signUpBytes)), "invalid-display-name", "display_name", "must have 1 to 64"],
    [{ body: [] }, "invalid-request", "", "must be an object"],
    [{ headers: { "sec-fetch-site": "cross-site" } }, "invalid-request", "", "other sites"],
  ],
  [`POST ${own}`]: [
    [{ body: { name: "" } }, "invalid-key-name", "name", "must have 1 to 64"],
    [{ body: { name: `my svc_sk_${"x".repeat(38)}` } }, "invalid-key-name", "name", "no API key"],
    [{ body: { name: 1 } }, "invalid-request", "name", "must be a string"],
    [{ body: { expires_in_days: 3651 } }, "invalid-request", "expires_in_days", days],
    [{ body: { expires_in_days: "1" } }, "invalid-request", "expires_in_days", days],
    [{ body: { expires_at: "2020-01-01T00:00:00Z" } }, "invalid-request", "expires_at", "must be in the future"],
    [{ body: { expires_at: "9999-01-01T00:00:00Z" } }, "invalid-request", "expires_at", "within 3650 days"],
    [{ body: { expires_at: 1_900_000_000 } }, "invalid-request", "expires_at", "must be a date and time such as"],
    [
      { body: { expires_at: "2030-01-01T00:00:00Z", expires_in_days: 9 } },
      "invalid-request",
      "expires_at",
      "can't be used together with expires_in_days",
    ],
    [{ body: { expiresAt: "2030-01-01T00:00:00Z" } }, "invalid-request", "expiresAt", "did you mean expires_at?"],
    [{ body: { scopes: ["read"] } }, "invalid-request", "scopes", "the known fields are name, expires_in_days"],
  ],
  [`POST ${own}/publishable`]: [
    [origins(undefined), "missing-origin-allowlist", "origin_allowlist", "is missing"],
    [origins("https://a.com"), "missing-origin-allowlist", "origin_allowlist", "must be an array"],
    [origins([]), "origin-allowlist-empty", "origin_allowlist", "must hold exactly one origin"],
    [origins(["http://a", "http://b"]), "origin-allowlist-too-many", "origin_allowlist", "exactly one origin"],
    [origins(["*"]), "origin-invalid-scheme", "origin_allowlist[0]", "must start with http:// or https://"],
    [origins(["http://a/b"]), "invalid-origin", "origin_allowlist[0]", "must be a scheme, a host and optionally"],
    [origins([7]), "invalid-request", "origin_allowlist[0]", "must be a string"],
    [{ body: { origins: ["http://a"] } }, "invalid-request", "origins", "origin_allowlist"],
  ],
  [`DELETE ${own}/x`]: [[{}, "invalid-key-id", "id", "must be a number"]],
  "POST /ws/sessions": [
    [{ body: {} }, "invalid-request", "websocket_url", "is missing, and so is stack"],
    [session({}, 7), "invalid-request", "websocket_url", "must be a string"],
    [session({}, "http://a"), "invalid-websocket-url", "websocket_url", "ws://"],
    [session({}, "ws://nowhere/x"), "agent-account-forbidden", "websocket_url", "public stack"],
    [{ body: { stack: "nowhere" } }, "agent-account-forbidden", "stack", "isn't the name of a public stack"],
    [session({ stack: "transfers" }), "invalid-request", "stack", "can't be used together with websocket_url"],
    [session({ scope: "read write" }, "ws://nowhere/x"), "invalid-scope", "scope", scopes],
    [session({ scope: "" }), "invalid-scope", "scope", "must not be empty"],
    [session({ scope: ["read"] }), "invalid-request", "scope", "a list is called scopes"],
    [session({ scopes: zeros(998) }), "invalid-request", "scopes[0]", "must be a string"],
    [session({ scopes: zeros(999) }), "invalid-request", "", "must have at most 1000 members and elements"],
    [packed, "unsupported-media-type", "", "the body must not be compressed (Content-Encoding)"],
    [session({ scopes: [] }), "invalid-scope", "scopes", "must not be empty"],
    [session({ scopes: ["read", "x"] }), "invalid-scope", "scopes[1]", scopes],
    [session({ scopes: "read" }), "invalid-request", "scopes", "a string of scopes is called scope"],
    [session({ scope: "read", scopes: ["read"] }), "invalid-request", "scopes", "can't be used together with scope"],
  ],
  [`POST ${own}/1/rotate`]: [
    [{ body: { overlap: 0 } }, "invalid-request", "overlap", "did you mean overlap_seconds?"],
    [{ body: { overlap_seconds: -1 } }, "invalid-request", "overlap_seconds", "must be an integer from 0 to 604800"],
    [{ body: { overlap_seconds: 604_801 } }, "invalid-request", "overlap_seconds", "from 0 to 604800"],
  ],
  "GET /api/usage?days=91": [[{}, "invalid-request", "days", "must be an integer from 1 to 90"]],
  "GET /api/registry/changes?after=999999": [[{}, "invalid-request", "after", "was never issued"]],
  "GET /api/registry?include=x": [[{}, "invalid-request", "include", "can only be schema"]],
  [`GET /api/registry?q=${"x".repeat(201)}`]: [[{}, "invalid-request", "q", "must be at most 200 characters"]],
  ...Object.fromEntries(lists.flatMap((list) => Object.entries(pagesOf(list)))),
}

test.each(Object.entries(refusals))("%s says what is wrong in our own words, and the next step", async (what, all) => {
  const [method = "", path = ""] = what.split(" ")
  for (const [call, code, at, reason] of all) {
    const { status, body } = await service.call(method, path, { key: agent.key, ...call })
    expect([status, body]).toMatchObject([
      errors.rows[code].status,
      { code, error: expect.any(String), details: { path: at, reason: expect.stringContaining(reason) } },
    ])
    expect(body).toMatchObject({ retryable: false, hint: expect.stringMatching(/\.$/) })
    expect(body.details.reason).not.toMatch(/Invalid|expected|received/)
  }
})

test("the error for a body that is too large states the route's limit", async () => {
  const call = raw("{}".padEnd(signUpBytes + 1))
  const { status, code, body } = await service.call("POST", "/api/agents/signup", call)
  expect([status, code, body.error]).toEqual([413, "payload-too-large", "The body is too large. The limit is 4 KiB."])
})

test("a token treats this machine's three host names as one, and every response states the remaining limit", async () => {
  const { key } = agent
  const mint = (websocket_url: string) =>
    service.call("POST", "/ws/sessions", { key, body: { websocket_url }, from: "192.0.2.9" })
  let left = 60
  for (const host of ["localhost", "127.0.0.1", "[::1]", "LOCALHOST", "127.1"]) {
    const { status, headers } = await mint(`ws://${host}:4004/transfers`)
    left--
    expect([host, status, headers.get("ratelimit-policy")]).toEqual([host, 200, '"default";q=60;w=60'])
    expect(headers.get("ratelimit")).toMatch(new RegExp(`^"default";r=${left};t=\\d+$`))
  }
  for (const other of ["ws://localhost:4003", "wss://localhost:4004", "ws://127.0.0.2:4004"]) {
    const { status, headers } = await mint(`${other}/transfers`)
    expect([other, status, headers.has("ratelimit")]).toEqual([other, 403, true])
  }
  expect((await mint("nonsense")).headers.has("ratelimit")).toBe(true)
  const unknown = await service.call("POST", "/ws/sessions", { key: `${key}x`, body: {} })
  expect([unknown.status, unknown.headers.has("ratelimit")]).toEqual([401, false])
})

test("a stack published before the first start stays, and no other can use its URL in another spelling", async () => {
  const operators = await serviceInTest("postgres")
  const put = (name: string, websocketUrl: string) =>
    publishStack(operators, name, JSON.parse(sampleText("name-service")), { websocketUrl })
  await put("transfers", "wss://mine.example/transfers")
  await put("swaps", "ws://localhost:4004/token-swaps")
  const taken = { code: "websocket-url-taken" }
  await expect(put("other", "ws://[::1]:4004/token-swaps/")).rejects.toMatchObject(taken)
  const env = { DATABASE_URL: operators.databaseUrl, SVC_SAMPLE_STACKS: "true" }
  const { body } = await (await serviceInTest("postgres", env)).call("GET", "/api/registry")
  const urls = body.map((stack: Record<string, string>) => [stack["name"], stack["websocket_url"]])
  expect(Object.fromEntries(urls)).toEqual({
    "name-service": "ws://127.0.0.1:4004/name-service",
    "stake-accounts": "ws://127.0.0.1:4004/stake-accounts",
    swaps: "ws://localhost:4004/token-swaps",
    transfers: "wss://mine.example/transfers",
  })
})
