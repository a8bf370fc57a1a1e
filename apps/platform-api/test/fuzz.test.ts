import { randomBytes } from "node:crypto"
import { mintKey } from "@svc/keys"
import { anyCharacter, full } from "@svc/testing"
import fc from "fast-check"
import { beforeAll, expect, test } from "vitest"
import committed from "../openapi.json" with { type: "json" }
import { replaced } from "./registry/shapes.ts"
import { onBothDatabases, testService } from "./service.ts"
import { broken, first, grown, newPerson } from "./work/person.ts"

const requests = full ? 100_000 : 1000
// Sent at once, so that requests meet one another too.
const together = 10

const odd = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.constantFrom("", "\0", "a\0b", "\ud800", "x\udc00", "\u202e", "null", "%00", "..", "__proto__", "ws://[", "--"),
  fc.constantFrom("0", "-1", "1e9", "2147483648", "agt_0000000000", "wss://x.example/\0"),
  fc.string(),
)
const value = fc.oneof(
  odd,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(odd, { maxLength: 3 }),
  fc.jsonValue({ maxDepth: 3 }),
)
const number = fc.oneof(fc.integer({ min: -1, max: 30 }), fc.constantFrom(2_147_483_647, 2_147_483_648, 1e21, 0.5))
const asts = fc.constantFrom<unknown>(first, grown, broken)
const mutated = fc
  .tuple(asts, fc.array(fc.nat(9), { minLength: 1, maxLength: 8 }), value)
  .map(([ast, way, to]) => replaced(ast, way, to))

/** What requests' members may be, beside anything. */
const members = {
  allow_breaking: fc.boolean(),
  approval: fc.boolean(),
  ast_payload: fc.oneof(asts, mutated),
  deprecated: fc.record({ message: odd }),
  description: odd,
  display_name: odd,
  entity_name: fc.constant("Thing"),
  expires_in_days: number,
  message: odd,
  name: fc.constantFrom("one", "two", "three", "four"),
  origin_allowlist: fc.tuple(odd.map((text) => `https://${text}`)),
  overlap_seconds: number,
  reason: odd,
  scope: fc.constantFrom("read", "transaction:send"),
  scopes: fc.array(odd),
  shared_with: fc.array(odd, { maxLength: 3 }),
  spec_id: number,
  spec_version_id: number,
  to_version: number,
  visibility: fc.constantFrom("public", "global", "private"),
  websocket_url: fc.oneof(
    fc.constantFrom("wss://a.example", "wss://b.example"),
    odd.map((text) => `ws://${text}`),
  ),
  workflow: fc.constant("publish"),
}
const anyMember = <T>(member: fc.Arbitrary<T>) => fc.oneof({ weight: 3, arbitrary: member }, value)
const body = fc.record(
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, anyMember<unknown>(member)])),
  { requiredKeys: [] },
)
const raw = fc.oneof(
  { weight: 6, arbitrary: body.map((json) => JSON.stringify(json)) },
  fc.jsonValue().map((json) => JSON.stringify(json)),
  fc.uint8Array({ maxLength: 64 }),
  fc.constant(null),
)

const operations = Object.entries(committed.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
)
const strange = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"),
  path: fc.constantFrom("/api/{id}", "/{id}", ...operations.map(({ path }) => path)),
})
const segment = fc.oneof(
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 20 }).map(String) },
  fc.constantFrom("0", "x", "one", "2147483648", "%00"),
  odd.map((text) => encodeURIComponent(text.toWellFormed())),
)
const parameters = "limit offset include q from to version language until signature days after".split(" ")
const search = fc.dictionary(fc.constantFrom(...parameters), odd, { maxKeys: 4 })
const headerText = fc.string({
  minLength: 1,
  maxLength: 70,
  unit: fc
    .oneof(fc.integer({ min: 0x21, max: 0x7e }), fc.integer({ min: 0xa1, max: 0xff }))
    .map((code) => String.fromCodePoint(code)),
})
const headers = fc.record(
  {
    authorization: headerText,
    origin: headerText,
    "accept-encoding": headerText,
    "content-encoding": fc.constantFrom("identity", "br", "gzip"),
    "content-type": fc.constantFrom("application/json; charset=utf-8", "text/plain", ""),
    "idempotency-key": headerText,
    "if-match": headerText,
    "if-none-match": headerText,
    "x-forwarded-for": headerText,
    "x-request-id": headerText,
  },
  { requiredKeys: [] },
)
// Most go on to what the body says.
const seldom = <T>(some: fc.Arbitrary<T>, usual: T) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: some })
const request = fc.record({
  operation: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...operations) }, strange),
  segment,
  search: seldom(search, {}),
  headers: seldom(headers, {}),
  raw,
  isStranger: fc.nat(9).map((one) => one === 0),
})

onBothDatabases("random requests", (kind) => {
  const service = testService(kind, {
    SVC_FAILED_AUTH_PER_MINUTE: "0",
    SVC_REGISTRY_REQUESTS_PER_MINUTE: "0",
    SVC_REQUESTS_PER_MINUTE: "0",
    SVC_SPECS_PER_OWNER: "1000000",
    SVC_VERSIONS_PER_SPEC: "1000000",
    SVC_WAITING_BUILDS_PER_OWNER: "1000000",
    SVC_WAITING_RUNS_PER_OWNER: "1000000",
  })
  const unknown = mintKey("ak", randomBytes, randomBytes(32))
  let person: string
  let agent: string
  beforeAll(async () => {
    // No id of a request is that of a caller's key.
    await service.database().query("select setval('api_keys_id_seq', 1000000)", [])
    const owner = await newPerson(service)
    await owner.newSpec("one", { ast_payload: first })
    person = owner.key
    agent = (await service.signUp()).key
  })

  test("no body, header, query or id returns a 5xx other than 501", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: together, maxLength: together }), async (given) => {
        const failed = await Promise.all(
          given.map(async (one) => {
            const { method, path } = one.operation
            const query = new URLSearchParams(one.search).toString()
            const url = `${service.url}${path.replaceAll(/\{\w+\}/g, one.segment)}${query && `?${query}`}`
            const key = one.isStranger ? unknown : path.startsWith("/api/agents") ? agent : person
            const usual = { authorization: `Bearer ${key}`, "content-type": "application/json" }
            const hasBody = method !== "GET" && method !== "HEAD"
            const sent = { method, headers: { ...usual, ...one.headers }, body: hasBody ? one.raw : null }
            const response = await fetch(url, sent)
            // The stream of a run has no end of its own.
            if (response.headers.get("content-type") === "text/event-stream") await response.body?.cancel()
            else await response.arrayBuffer()
            return response.status < 500 || response.status === 501 ? [] : [[method, url, one.raw, response.status]]
          }),
        )
        expect(failed.flat()).toEqual([])
      }),
      { numRuns: requests / together },
    )
  })
})
