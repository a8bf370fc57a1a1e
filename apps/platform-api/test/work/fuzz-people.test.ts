import fc from "fast-check"
import { anyCharacter } from "@svc/testing"
import { beforeAll, describe, expect, test, vi } from "vitest"
import { databaseKinds, testService } from "../service.ts"
import { broken, first, grown, newPerson, type Person } from "./person.ts"

const full = process.env["SVC_FUZZ"] === "full"
const requests = full ? 50_000 : 300
// Sent at once, so that requests meet one another too.
const together = 10
vi.setConfig({ testTimeout: full ? 7_200_000 : 180_000, hookTimeout: 120_000 })

const odd = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.constantFrom(
    "",
    "\0",
    "a\0b",
    "\ud800",
    "__proto__",
    "agt_0000000000",
    "wss://x.example/\0",
    "ws://[",
    "1e9",
    "--",
  ),
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

/** An AST with any one member replaced. */
const mutated = fc
  .tuple(fc.constantFrom(first, grown, broken), fc.array(fc.nat(9), { minLength: 1, maxLength: 8 }), value)
  .map(([ast, way, to]) => {
    const copy: unknown = structuredClone(ast)
    let at = copy
    for (const [index, turn] of way.entries()) {
      if (typeof at !== "object" || at === null) break
      const keys = Object.keys(at)
      const key = keys[turn % Math.max(keys.length, 1)]
      if (key === undefined) break
      const holder = at as Record<string, unknown>
      if (index === way.length - 1) holder[key] = to
      at = holder[key]
    }
    return copy
  })
const ast = fc.oneof(fc.constantFrom<unknown>(first, grown, broken), mutated, value)

const body = fc.record(
  {
    name: fc.oneof(fc.constantFrom("one", "two", "three", "four"), value),
    spec_id: fc.oneof(number, value),
    spec_version_id: fc.oneof(number, value),
    ast_payload: ast,
    entity_name: fc.oneof(fc.constant("Thing"), value),
    description: value,
    websocket_url: fc.oneof(fc.constantFrom("wss://a.example", "wss://b.example"), value),
    visibility: fc.oneof(fc.constantFrom("public", "global", "private"), value),
    shared_with: fc.oneof(fc.array(odd, { maxLength: 3 }), value),
    deprecated: fc.oneof(fc.record({ message: odd }), value),
    message: value,
    branch: fc.oneof(fc.constantFrom("next", null), value),
    allow_breaking: fc.oneof(fc.boolean(), value),
    approval: fc.oneof(fc.boolean(), value),
    workflow: fc.oneof(fc.constant("publish"), value),
    reason: value,
    to_version: fc.oneof(number, value),
  },
  { requiredKeys: [] },
)
const routes = [
  ["GET", "/api/specs"],
  ["GET", "/api/specs/:id"],
  ["GET", "/api/specs/:id/schema"],
  ["GET", "/api/specs/:id/versions"],
  ["GET", "/api/builds"],
  ["GET", "/api/builds/:id"],
  ["GET", "/api/deployments/:id/events"],
  ["GET", "/api/automation/runs"],
  ["GET", "/api/automation/runs/:id"],
  ["POST", "/api/specs"],
  ["PUT", "/api/specs/:id"],
  ["DELETE", "/api/specs/:id"],
  ["POST", "/api/specs/:id/versions"],
  ["GET", "/api/specs/:id/diff"],
  ["POST", "/api/builds"],
  ["POST", "/api/builds/:id/cancel"],
  ["DELETE", "/api/deployments/:id"],
  ["POST", "/api/deployments/:id/stop"],
  ["POST", "/api/deployments/:id/restart"],
  ["POST", "/api/deployments/:id/rollback"],
  ["POST", "/api/automation/runs"],
  ["POST", "/api/automation/runs/:id/resume"],
  ["POST", "/api/automation/runs/:id/retry"],
  ["POST", "/api/automation/runs/:id/cancel"],
  ["GET", "/api/registry/one/versions"],
  ["GET", "/api/registry/one/types"],
  ["GET", "/api/registry/one/diff"],
  ["GET", "/api/asts/:id"],
] as const
const header = fc.string({
  minLength: 1,
  maxLength: 70,
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCodePoint(code)),
})
const oddHeaders = fc.record(
  {
    "idempotency-key": header,
    "if-match": header,
    "if-none-match": header,
    "content-encoding": fc.constantFrom("identity", "br", "gzip"),
  },
  { requiredKeys: [] },
)
const request = fc.record({
  route: fc.constantFrom(...routes),
  id: fc.oneof(fc.integer({ min: 1, max: 20 }).map(String), fc.constantFrom("0", "x", "2147483648", "%00")),
  json: body,
  search: fc.record(
    { from: odd, to: odd, version: odd, language: odd, limit: odd, offset: odd, until: odd, signature: odd },
    { requiredKeys: [] },
  ),
  headers: fc.oneof(
    // Most go on to what the body says.
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: oddHeaders },
  ),
})

describe.each(databaseKinds)("random requests of people on %s", (kind) => {
  const service = testService(kind, {
    SVC_REGISTRY_REQUESTS_PER_MINUTE: "0",
    SVC_SPECS_PER_OWNER: "1000000",
    SVC_WAITING_BUILDS_PER_OWNER: "1000000",
    SVC_WAITING_RUNS_PER_OWNER: "1000000",
    SVC_VERSIONS_PER_SPEC: "1000000",
  })
  let owner: Person
  beforeAll(async () => {
    owner = await newPerson(service)
    await owner.newSpec("one", { ast_payload: first })
  })

  test("no body, header, query or id ever makes an answer of 500 or more", async () => {
    let sent = 0
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: together, maxLength: together }), async (given) => {
        const failed = await Promise.all(
          given.map(async ({ route: [method, template], id, json, search, headers }) => {
            const query = Object.keys(search).length === 0 ? "" : `?${new URLSearchParams(search).toString()}`
            const path = `${template.replace(":id", id)}${query}`
            const response = await fetch(service.url + path, {
              method,
              headers: { ...headers, authorization: `Bearer ${owner.key}`, "content-type": "application/json" },
              ...(method === "GET" ? {} : { body: JSON.stringify(json) }),
            })
            const text = await response.text()
            return response.status < 500 ? [] : [[method, path, json, text]]
          }),
        )
        expect(failed.flat()).toEqual([])
        sent += given.length
        if (full && sent % 5000 === 0) console.log(`${kind}: ${sent} of ${requests} sent`)
      }),
      { numRuns: requests / together },
    )
    expect(sent).toBe(requests)
  })
})
