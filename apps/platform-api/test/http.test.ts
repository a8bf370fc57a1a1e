import { rawGet } from "@svc/testing"
import { expect, test } from "vitest"
import manifest from "../package.json" with { type: "json" }
import { serviceInTest, testService } from "./service.ts"
import { newPerson } from "./work/person.ts"

const service = testService("postgres", { SVC_SAMPLE_STACKS: "true" })

test("only the exact spelling of a path is served", async () => {
  expect((await rawGet(service.url, "/x/../api/r%65gistry")).status).toBe(404)
})

test("any page may send requests after a preflight without a key, and read responses and errors", async () => {
  const preflight = await service.call("OPTIONS", "/api/agents/me", {
    headers: { origin: "https://app.example", "access-control-request-method": "GET" },
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get("access-control-allow-origin")).toBe("*")
  expect(preflight.headers.get("access-control-allow-headers")).toMatch(/Authorization.*Cache-Control/)
  expect(preflight.headers.get("access-control-allow-methods")).toMatch(/DELETE/)
  for (const path of ["/health", "/api/registry", "/api/agents/me", "/nowhere"]) {
    const { headers } = await service.call("GET", path)
    expect(headers.get("access-control-allow-origin"), path).toBe("*")
    expect(headers.has("access-control-allow-credentials")).toBe(false)
    const exposed = headers.get("access-control-expose-headers")?.split(", ") ?? []
    const limits = ["RateLimit", "RateLimit-Policy", "Retry-After"]
    const wanted = [...limits, "X-Request-Id", "X-Error-Code", "X-Auth-Ignored", "WWW-Authenticate", "Link", "ETag"]
    expect(exposed).toEqual(expect.arrayContaining(wanted))
  }
})

test("health reports the database's state and the version", async () => {
  expect((await service.call("GET", "/health")).body).toEqual({
    status: "ok",
    version: manifest.version,
    database: "ok",
    limits: "local",
  })
  expect((await service.call("HEAD", "/health")).status).toBe(200)
})

test("headers that are too long get an error from the table that a page can read", async () => {
  const { status, code, body, headers } = await service.call("GET", "/api/registry", { key: "x".repeat(20_000) })
  expect([status, code, body.details.reason]).toEqual([
    400,
    "invalid-request",
    "the URL and the headers are over 16 KiB",
  ])
  expect(headers.get("access-control-allow-origin")).toBe("*")
  expect(headers.get("x-request-id")).toBe(body.request_id)
})

test("two Authorization headers are rejected even if one is valid", async () => {
  const { key } = await service.signUp()
  const headers = ["Host", "x", "Authorization", `Bearer ${key}`, "Authorization", "Bearer x"]
  const answer = await rawGet(service.url, "/api/agents/me", headers)
  expect([answer.status, answer.headers["x-error-code"]]).toEqual([401, "invalid-authorization-format"])
})

test("an invalid query of a list counts against the limit, and the error says why a key was ignored", async () => {
  const headers = { authorization: "Bearer x" }
  const { status, headers: told } = await service.call("GET", "/api/registry?limit=0", { headers, from: "192.0.2.77" })
  const shown = [status, told.get("x-auth-ignored"), told.get("vary")]
  expect(shown).toEqual([400, "invalid-api-key", "Authorization, Origin, Accept-Encoding"])
  expect(told.get("ratelimit")).toMatch(/r=299;/)
})

test("the bare address says what the service is, with its OpenAPI document and documentation", async () => {
  const answer = await fetch(`${service.url}/`)
  const { name, openapi, docs } = (await answer.json()) as Record<string, string>
  expect([answer.status, name, docs]).toEqual([200, "svc-platform-api", "http://localhost:4001"])
  expect(openapi).toMatch(/^http.*\/openapi\.json$/)
})

test("without a configured address the document names the port that the service listens on", async () => {
  const other = await serviceInTest("postgres", { SVC_API_URL: "" })
  const { servers } = (await (await fetch(`${other.url}/openapi.json`)).json()) as { servers: unknown }
  expect(servers).toEqual([{ url: `http://localhost:${new URL(other.url).port}` }])
})

test("behind a path, Link and Location keep it", async () => {
  const other = await serviceInTest("postgres", { SVC_API_URL: "https://svc.example/api", SVC_SAMPLE_STACKS: "true" })
  const person = await newPerson(other)
  const { headers } = await other.call("GET", "/api/registry?limit=1")
  expect(headers.get("link")).toBe('</api/api/registry?limit=1&offset=1>; rel="next"')
  const made = await person.call("POST", "/api/specs", { name: "placed" })
  expect(made.headers.get("location")).toBe(`/api/api/specs/${made.body.id}`)
})
