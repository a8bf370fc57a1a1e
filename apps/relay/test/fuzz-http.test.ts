import { Agent, type OutgoingHttpHeaders, request } from "node:http"
import { full } from "@svc/testing"
import fc from "fast-check"
import { afterAll, expect, test } from "vitest"
import { raw, type Reply, result, rpcError } from "./fake-rpc.ts"
import { routes } from "../src/routes/table.ts"
import { fileRelay, fileRpc, startIssuer } from "./fixture.ts"
import { anyTransaction } from "./transactions.ts"

const runs = full ? 50_000 : 200
const lines: unknown[] = []
const limit = "1000000"
const rpc = fileRpc()
const issuer = await startIssuer()
const relay = fileRelay(rpc, {
  auth: issuer.plugin,
  lines,
  env: {
    SVC_TRANSACTION_VERIFY: "structure",
    SVC_TRANSACTION_INSPECT_REQUESTS_PER_MINUTE: limit,
    SVC_TRANSACTION_STATUS_REQUESTS_PER_MINUTE: limit,
    SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: limit,
  },
})
const token = await issuer.token()
const wire = await anyTransaction()
const agent = new Agent({ keepAlive: true })
afterAll(() => agent.destroy())

/** Node's client sends headers that other clients reject. */
const call = (path: string, method: string, headers: OutgoingHttpHeaders, body: Uint8Array | undefined) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const outgoing = request({ port: relay.port, agent, path, method, headers }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    })
    outgoing.on("error", reject)
    outgoing.end(body)
  })

const signature = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQkjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"

const bytesOf = (text: string) => Buffer.from(text, "utf8")
const field = fc.constantFrom(...new Set(routes.flatMap(({ request: { shape } }) => Object.keys(shape))), "__proto__")
const likely = fc.oneof(
  fc.constantFrom("confirmed", "0", "18446744073709551615", "18446744073709551616", signature, "\ud800", "\0"),
  fc.boolean(),
  fc.constant(null),
  fc.record({ addresses: fc.array(fc.constantFrom("11111111111111111111111111111111", "x"), { maxLength: 18 }) }),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString("base64")),
  fc.constant(wire),
  fc.jsonValue(),
)
const members = fc.array(fc.tuple(field, likely), { maxLength: 5 })
const object = members.map(
  (pairs) => `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`,
)
const body = fc.oneof(
  { weight: 4, arbitrary: object.map(bytesOf) },
  { weight: 1, arbitrary: fc.json().map(bytesOf) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.nat(6000).map((depth) => Buffer.alloc(depth, "[")) },
  // One character of a good body changed.
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(400), fc.nat(127)).map(([at, char]) => {
      const good = bytesOf(JSON.stringify({ transaction: wire, minContextSlot: "5" }))
      return good.fill(char, at % good.length, (at % good.length) + 1)
    }),
  },
)
const good = fc
  .constantFrom("transaction", "message")
  .chain((name) => fc.boolean().map(() => bytesOf(JSON.stringify({ [name]: name === "message" ? "AA==" : wire }))))
const headerText = fc.string({ maxLength: 40 }).map((text) => text.replace(/[^\x20-\x7e]/g, "x"))
const headers = fc.record(
  {
    "content-type": fc.oneof({ weight: 5, arbitrary: fc.constant("application/json") }, headerText),
    authorization: fc.oneof({ weight: 8, arbitrary: fc.constant("token") }, headerText),
    origin: headerText,
    "x-forwarded-for": fc.oneof(headerText, fc.constantFrom("[::1]:1, 5", ",,", "::ffff:1.2.3.4")),
    "x-request-id": headerText,
    "content-encoding": fc.constantFrom("gzip", "identity", ""),
    host: headerText,
    upgrade: headerText,
  },
  { requiredKeys: ["content-type", "authorization"] },
)

const rpcValue = fc.oneof(
  fc.json(),
  fc.constantFrom(
    "5",
    '{"context":{"slot":1},"value":null}',
    '{"context":{"slot":1},"value":[null]}',
    '{"context":{"slot":1},"value":{"blockhash":"x","lastValidBlockHeight":18446744073709551615}}',
    `{"context":{"slot":1},"value":{"err":${"[".repeat(3000)}${"]".repeat(3000)}}}`,
  ),
)
type Kind = "result" | "error" | "status" | "bytes"
const reply = fc.record({
  kind: fc.constantFrom<Kind>("result", "result", "error", "status", "bytes"),
  value: rpcValue,
  code: fc.oneof(fc.integer({ min: -32_020, max: -32_000 }), fc.constantFrom(-32_603, -32_700, 1.5, 1e300)),
  status: fc.integer({ min: 200, max: 599 }),
  bytes: fc.uint8Array({ maxLength: 100 }),
})

const upstreamErrors = new Set(["upstream_rpc_error", "upstream_unavailable", "submission_unknown", "upstream_timeout"])

test(`${runs} random requests to a random provider: every response is described, and none is a 500`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...routes.map(({ path }) => path)) }, fc.webPath()),
      fc.oneof(
        { weight: 8, arbitrary: fc.constant("POST") },
        fc.constantFrom("GET", "PUT", "OPTIONS", "HEAD", "DELETE"),
      ),
      headers,
      fc.oneof({ weight: 2, arbitrary: body }, good),
      reply,
      async (path, method, given, sent, { kind, value, code, status, bytes }) => {
        rpc.script((r): Reply => {
          if (kind === "result") return result(r, value)
          if (kind === "error") return rpcError(r, { code, data: JSON.parse(value) as unknown }, status)
          if (kind === "status") return raw(value, status)
          return { write: Buffer.from(bytes), after: "end" }
        })
        const authorization = given.authorization === "token" ? `Bearer ${token}` : given.authorization
        const { status: got, text } = await call(
          path.startsWith("/") ? path : `/${path}`,
          method,
          { ...given, authorization },
          method === "POST" || method === "PUT" ? sent : undefined,
        )
        if (got >= 500) {
          const { code: name } = JSON.parse(text) as { code: string }
          expect([name, upstreamErrors.has(name)]).toEqual([name, true])
        }
        if (got >= 400 && method !== "HEAD") {
          expect(text).toContain('"requestId":')
          expect(text.includes('"submissionState":') || !path.endsWith("/send")).toBe(true)
        }
      },
    ),
    { numRuns: runs },
  )
  expect(JSON.stringify(lines)).not.toContain("a request failed")
  expect(await relay.request("/health", { method: "GET" })).toMatchObject({ status: 200 })
})
