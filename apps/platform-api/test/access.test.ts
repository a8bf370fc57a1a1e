import { randomBytes } from "node:crypto"
import { accessSchema } from "@svc/openapi"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { z } from "zod"
import committed from "../openapi.json" with { type: "json" }
import { createUser } from "../src/operator/accounts.ts"
import { publish } from "../src/operator/publish.ts"
import { parseAst } from "../src/registry/ast/parse-ast.ts"
import { smallAst } from "./registry/small-ast.ts"
import { startTestService, type TestService } from "./service.ts"

const described = z.record(z.string(), z.record(z.string(), z.looseObject({ "x-access": accessSchema })))
const operations = Object.entries(described.parse(committed.paths)).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, about]) => ({
    method: method.toUpperCase(),
    path,
    callers: about["x-access"].callers,
  })),
)
const [origin, websocket_url] = ["https://app.example", "wss://streams.example/plain"]

let service: TestService
let credentials: Readonly<Record<string, string | undefined>>

beforeAll(async () => {
  service = await startTestService("postgres", { SVC_FAILED_AUTH_PER_MINUTE: "0" })
  const common = { description: null, ast: parseAst(smallAst()), relay: false, browserSend: false } as const
  const stack = { ...common, name: "plain", websocketUrl: websocket_url, visibility: "public" } as const
  await publish(service.database(), stack, new Date())
  const { key: agent } = await service.signUp()
  const person = { email: "p@example.org", name: "P" }
  const { api_key } = await createUser(service.database(), person, new Date(), randomBytes)
  const publishable = async (path: string, key: string) =>
    (await service.call("POST", path, { key, body: { origin_allowlist: [origin] } })).body.key
  const session = await vi.waitFor(async () => {
    const { body } = await service.call("POST", "/ws/sessions", { key: agent, body: { websocket_url } })
    return z.string().parse(body.token)
  }, 10_000)
  credentials = {
    none: undefined,
    agent,
    person: api_key,
    "publishable of an agent": await publishable("/api/agents/me/keys/publishable", agent),
    "publishable of a person": await publishable("/api/auth/keys/publishable", api_key),
    session,
    mistyped: `${agent.slice(0, -1)}${agent.endsWith("x") ? "y" : "x"}`,
  }
})
afterAll(() => service.close())

// Names nothing that is there: what an operation would do to a record is not what is asked here.
const concrete = (path: string) => path.replaceAll(/\{\w+\}/g, "2147483647")

const refusals = new Set([
  "missing-credentials",
  "invalid-api-key",
  "secret-key-required",
  "agent-account-forbidden",
  "agent-account-required",
])

test.each(operations)("$method $path lets in whom its x-access names, and nobody else", async (operation) => {
  const { method, path, callers } = operation
  const body = method === "POST" || method === "PUT" ? { body: {} } : {}
  const admitted: string[] = []
  const looked: string[] = []
  for (const [name, key] of Object.entries(credentials)) {
    const { code, headers } = await service.call(method, concrete(path), {
      ...(key === undefined ? {} : { key }),
      ...body,
      headers: { origin },
    })
    if (!refusals.has(code ?? "")) admitted.push(name)
    if (headers.has("x-auth-ignored")) looked.push(name)
  }
  const takes = (caller: string) => callers.some((one) => caller === one || caller.startsWith(`${one} of`))
  const isOpen = callers.includes("anyone") || callers.includes("link")
  expect(admitted).toEqual(Object.keys(credentials).filter((name) => isOpen || takes(name)))
  // Where a key is optional, one that is none is ignored aloud; where it is never looked at, silently.
  expect(looked).toEqual(isOpen && callers.includes("agent") ? ["session", "mistyped"] : [])
})

test.each([
  ["GET", ""],
  ["POST", ""],
  ["POST", "/publishable"],
  ["DELETE", "/1"],
])("%s /api/auth/keys%s tells an agent where its own keys are", async (method, path) => {
  const { code, body } = await service.call(method, `/api/auth/keys${path}`, { key: credentials["agent"] ?? "" })
  expect([code, body.hint]).toEqual(["agent-account-forbidden", "An agent's keys are at /api/agents/me/keys."])
})
