import { accessSchema } from "@svc/openapi"
import { beforeAll, expect, test, vi } from "vitest"
import { z } from "zod"
import committed from "../openapi.json" with { type: "json" }
import { publishStack, testService } from "./service.ts"
import { first, newPerson } from "./work/person.ts"

const described = z.record(z.string(), z.record(z.string(), z.looseObject({ "x-access": accessSchema })))
const operations = Object.entries(described.parse(committed.paths)).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, about]) => ({
    method: method.toUpperCase(),
    path,
    callers: about["x-access"].callers,
  })),
)
const [origin, websocket_url] = ["https://app.example", "wss://streams.example/plain"]

const service = testService("postgres", { SVC_FAILED_AUTH_PER_MINUTE: "0" })
let credentials: Readonly<Record<string, string | undefined>>

beforeAll(async () => {
  await publishStack(service, "plain")
  const { key: agent } = await service.signUp()
  const { key: person } = await newPerson(service)
  const session = await vi.waitFor(async () => {
    const { body } = await service.call("POST", "/ws/sessions", { key: agent, body: { websocket_url } })
    return z.string().parse(body.token)
  }, 10_000)
  credentials = {
    none: undefined,
    agent,
    person,
    "publishable of an agent": await service.publishable(agent, [origin]),
    "publishable of a person": await service.publishable(person, [origin], "/api/auth/keys"),
    session,
    mistyped: `${agent.slice(0, -1)}${agent.endsWith("x") ? "y" : "x"}`,
  }
})

// Neither names anything that is there: what an operation would do to a record is not what is asked here.
const requests = [
  { id: "2147483647", sent: { body: {} } },
  { id: "x", sent: { raw: "{", headers: { "content-type": "text/plain" } } },
]

const refusals = new Set([
  "missing-credentials",
  "invalid-api-key",
  "secret-key-required",
  "agent-account-forbidden",
  "agent-account-required",
])

test.each(operations)(
  "$method $path admits exactly the callers in its x-access, whatever id and body they send",
  async (operation) => {
    const { method, path, callers } = operation
    const takes = (caller: string) => callers.some((one) => caller === one || caller.startsWith(`${one} of`))
    const isOpen = callers.includes("anyone") || callers.includes("link")
    for (const { id, sent } of requests) {
      const admitted: string[] = []
      const looked: string[] = []
      for (const [name, key] of Object.entries(credentials)) {
        const { code, headers } = await service.call(method, path.replaceAll(/\{\w+\}/g, id), {
          ...(method === "GET" ? {} : sent),
          key,
          headers: { origin, ...(method !== "GET" && sent.headers) },
        })
        if (!refusals.has(code ?? "")) admitted.push(name)
        if (headers.has("x-auth-ignored")) looked.push(name)
      }
      expect(admitted).toEqual(Object.keys(credentials).filter((name) => isOpen || takes(name)))
      // Where a key is optional, one that is none is ignored aloud; where it is never looked at, silently.
      expect(looked).toEqual(isOpen && callers.includes("agent") ? ["session", "mistyped"] : [])
    }
  },
)

test("any request for another account's record returns what a missing record would, and changes nothing", async () => {
  const owner = await newPerson(service)
  const { id: spec } = await owner.newSpec("kept", { visibility: "private" })
  const { id: run } = await owner.published(spec, first)
  const lists = ["/api/builds", "/api/deployments", "/api/auth/keys", `/api/specs/${spec}/versions`]
  const all = [...lists, "/api/specs", "/api/automation/runs"]
  const state = () =>
    Promise.all(
      all.map(async (path) => {
        const text = JSON.stringify(await owner.get(path)).replace(/"last_used_at":"[^"]+"/, '"last_used_at":null')
        return z.array(z.looseObject({ id: z.int() })).parse(JSON.parse(text))
      }),
    )
  const before = await state()
  const [build, deployment, key, version] = before.map(([newest]) => newest?.id)
  const ids = { specs: spec, builds: build, deployments: deployment, runs: run, keys: key }
  const others = [await newPerson(service), await service.signUp(), await service.signUp()]
  const own = await newPerson(service)
  const { id: spec_id } = await own.newSpec("others")
  const answerTo = async (...given: Parameters<typeof service.call>) => {
    const { status, body } = await service.call(...given)
    return { status, body: { ...body, request_id: "" } }
  }
  const bodies = [undefined, { name: "taken" }, { ast_payload: first }, { reason: "x" }, { to_version: 1 }]
  for (const { method, path } of operations.filter(
    (one) => one.path.includes("{id}") && !one.path.includes("/asts/"),
  )) {
    const [kind] = /specs|builds|deployments|runs|keys/.exec(path) ?? []
    for (const { key: other } of others)
      for (const body of method === "GET" || method === "DELETE" ? [undefined] : bodies) {
        const call = (id: unknown) => answerTo(method, path.replace("{id}", String(id)), { key: other, body })
        expect(await call(ids[kind as keyof typeof ids])).toEqual(await call(2_147_483_647))
      }
  }
  for (const path of ["/api/builds", "/api/automation/runs"])
    for (const body of [{ spec_id: spec }, { spec_id, spec_version_id: version }])
      expect(await own.code("POST", path, { ...(path !== "/api/builds" && { workflow: "publish" }), ...body })).toMatch(
        /not-found/,
      )
  expect(await state()).toEqual(before)
})
