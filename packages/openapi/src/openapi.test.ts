import { defineErrors } from "@svc/errors"
import { responseChecker } from "@svc/testing"
import { expect, test } from "vitest"
import { describeFields } from "./describe-fields.ts"
import meanings from "./field-meanings.json" with { type: "json" }
import { createApi, errorResponses, openApiDocument, z } from "./index.ts"

const errors = defineErrors({
  "invalid-id": { status: 400, message: "The id is not a number." },
  "invalid-name": { status: 400, message: "The name is empty." },
  "not-found": { status: 404, message: "Nothing is here." },
})
const envelope = (codes: readonly [string, ...string[]]) => z.strictObject({ code: z.enum(codes) })

// A schema that is open, as zod's are unless told otherwise, made of two parts.
const thing = z
  .object({ id: z.int() })
  .openapi("Thing")
  .extend({ part: z.object({ size: z.int() }).optional() })

const api = createApi()
api.openAPIRegistry.registerPath({
  method: "get",
  path: "/things/{id}",
  request: { params: z.object({ id: z.string() }) },
  responses: {
    200: { description: "One thing.", content: { "application/json": { schema: thing } } },
    ...errorResponses(errors, envelope, "invalid-id", "invalid-name", "not-found", "invalid-id"),
  },
})
// Served by Hono alone, so that it can answer what isn't described.
api.get("/things/:id", (c) => {
  const id = c.req.param("id")
  if (id === "odd") return c.json({ code: "surprise" }, 400)
  if (id === "open") return c.json({ id: 1, undescribed: true })
  if (id === "deep") return c.json({ id: 1, part: { size: 1, undescribed: true } })
  if (id === "teapot") return c.json({}, 418)
  return /^\d+$/.test(id) ? c.json({ id: Number(id) }) : c.json({ code: "invalid-id" }, 400)
})
const document = openApiDocument(api, { title: "Things", version: "1.2.3", description: "All things." }, [
  { url: "https://api.example.org" },
])

test("the document is OpenAPI 3.1.0 and describes the route with one error response per status", () => {
  expect(document).toMatchObject({
    openapi: "3.1.0",
    info: { title: "Things", version: "1.2.3", license: { identifier: "MIT" } },
    servers: [{ url: "https://api.example.org" }],
  })
  const responses = document.paths?.["/things/{id}"]?.get?.responses ?? {}
  expect(Object.keys(responses)).toEqual(["200", "400", "404"])
  expect(JSON.stringify(responses)).toContain('"enum":["invalid-id","invalid-name"]')
})

test("a field without a description gets the meaning of its name, one with a description keeps it", () => {
  const field = { type: "string" }
  const described = {
    components: {
      schemas: { Stack: { properties: { version: { ...field }, name: { ...field, description: "Own" } } } },
    },
    paths: { "/x": { get: { operationId: "listX", parameters: [{ name: "limit", in: "query" }] } } },
  }
  describeFields(described)
  expect(described).toMatchObject({
    components: {
      schemas: {
        Stack: {
          properties: {
            version: { description: meanings["Stack.version"] },
            name: { description: "Own" },
          },
        },
      },
    },
    paths: { "/x": { get: { parameters: [{ description: meanings["limit"] }] } } },
  })
})

test("a described route is served, and its responses fit the document", async () => {
  const check = responseChecker(document)
  const answers = ["7", "x"].map(async (id) => check("GET", `/things/${id}?a=b`, await api.request(`/things/${id}`)))
  expect((await Promise.all(answers)).map((answer) => answer.status)).toEqual([200, 400])
})

test("a response with another shape, member, code, status or path, or an integer that generators cut, is noticed", async () => {
  const check = responseChecker(document)
  for (const id of ["open", "deep"]) {
    await expect(check("GET", `/things/${id}`, await api.request(`/things/${id}`))).rejects.toThrow(/unevaluated/)
  }
  const large = 2 ** 31
  await expect(check("GET", `/things/${large}`, await api.request(`/things/${large}`))).rejects.toThrow(/2147483647/)
  await expect(check("GET", "/things/odd", await api.request("/things/odd"))).rejects.toThrow(/code/)
  await expect(check("GET", "/things/teapot", await api.request("/things/teapot"))).rejects.toThrow(/no such status/)
  await expect(check("GET", "/other", await api.request("/things/7"))).rejects.toThrow(/no such operation/)
  await expect(check("POST", "/things/7", await api.request("/things/7"))).rejects.toThrow(/no such operation/)
})
