import { randomBytes } from "node:crypto"
import { mintKey } from "@svc/keys"
import fc from "fast-check"
import { anyCharacter } from "@svc/testing"
import { beforeAll, describe, expect, test, vi } from "vitest"
import { databaseKinds, testService } from "./service.ts"
import { newPerson } from "./work/person.ts"

const full = process.env["SVC_FUZZ"] === "full"
const runs = full ? 50_000 : 200
vi.setConfig({ testTimeout: full ? 3_600_000 : 180_000 })

const odd = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom("", "\0", "a\0b", "\ud800", "x\udc00", "\u202e", "null", "%00", "..", "__proto__"),
  fc.constantFrom("0", "-1", "1e9", "2147483648"),
  fc.string(),
)
const value = fc.oneof(odd, fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.array(odd), fc.jsonValue())
const body = fc.oneof(
  fc.record(
    {
      display_name: value,
      name: value,
      expires_in_days: value,
      origin_allowlist: fc.oneof(value, fc.tuple(odd.map((text) => `https://${text}`))),
      websocket_url: fc.oneof(
        value,
        odd.map((text) => `ws://${text}`),
      ),
      scope: value,
      scopes: value,
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue(),
)
const raw = fc.oneof(
  body.map((json) => JSON.stringify(json)),
  fc.uint8Array({ maxLength: 64 }),
  fc.constant(undefined),
)
const segment = odd.map((text) => encodeURIComponent(text.toWellFormed()))
const path = fc.oneof(
  fc.constantFrom("/api/agents/signup", "/api/agents/me/keys", "/api/agents/me/keys/publishable", "/ws/sessions"),
  fc.constantFrom("/health", "/api/registry", "/api/specs", "/api/builds", "/api/auth/keys", "/api/automation/runs"),
  fc
    .tuple(
      fc.constantFrom("/api/agents/me/keys/", "/api/registry/", "/api/registry/stacks/", "/api/specs/", "/api/"),
      segment,
    )
    .map((parts) => parts.join("")),
)
const query = fc.oneof(
  fc.constant(""),
  fc
    .record({ limit: odd, offset: odd, include: odd, q: odd }, { requiredKeys: [] })
    .map((given) => `?${new URLSearchParams(given).toString()}`),
)
const headerText = fc.string({
  minLength: 1,
  unit: fc
    .oneof(fc.integer({ min: 0x21, max: 0x7e }), fc.integer({ min: 0xa1, max: 0xff }))
    .map((code) => String.fromCodePoint(code)),
})

describe.each(databaseKinds)("random requests on %s", (kind) => {
  const service = testService(kind, { SVC_REGISTRY_REQUESTS_PER_MINUTE: "0" })
  let keys: string[]
  beforeAll(async () => {
    const { key } = await service.signUp()
    keys = [key, (await newPerson(service)).key, mintKey("ak", randomBytes, randomBytes(32))]
  })

  test("no body, header, query or id ever makes an answer of 500 or more but 501", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"),
        path,
        query,
        raw,
        fc.constantFrom("application/json", "application/json; charset=utf-8", "text/plain", "", undefined),
        fc.record(
          {
            authorization: fc.oneof(
              headerText,
              fc.nat(2).map((index) => index),
            ),
            origin: headerText,
            "if-none-match": headerText,
            "accept-encoding": headerText,
            "x-forwarded-for": headerText,
            "x-request-id": headerText,
          },
          { requiredKeys: [] },
        ),
        async (method, where, search, sent, type, headers) => {
          const { authorization, ...rest } = headers
          const bearer = typeof authorization === "number" ? `Bearer ${keys[authorization]}` : authorization
          const response = await fetch(`${service.url}${where}${search}`, {
            method,
            headers: {
              ...rest,
              ...(bearer === undefined ? {} : { authorization: bearer }),
              ...(type === undefined ? {} : { "content-type": type }),
            },
            ...(sent === undefined || method === "GET" || method === "HEAD" ? {} : { body: sent }),
          })
          await response.arrayBuffer()
          // A random revocation may hit the caller's own key; it is then refused, which is an answer as well.
          expect([501, ...Array.from({ length: 300 }, (_, i) => 200 + i)]).toContain(response.status)
        },
      ),
      { numRuns: runs },
    )
  })
})
