import { BodyError } from "@svc/errors"
import { createApi, createRoute, z } from "@svc/openapi"
import { expect, onTestFinished, test } from "vitest"
import { type HttpEnv, jsonBody, requestContext, serve } from "../index.ts"

const start = async () => {
  const app = createApi<HttpEnv>()
  app.use(requestContext)
  const json = (schema: z.ZodType) => ({ "application/json": { schema } })
  const route = createRoute({
    method: "post",
    path: "/things/{id}",
    "x-access": { callers: ["anyone"] },
    middleware: [jsonBody({ limit: (c) => (c.req.param("id") === "small" ? 10 : 1000), emptyAs: {} })],
    request: {
      params: z.object({ id: z.string() }),
      query: z.object({ size: z.string().regex(/^\d+$/, "must be digits").optional() }),
      body: { required: false, content: json(z.strictObject({ name: z.string().default("none") })) },
    },
    responses: { 200: { description: "What was sent.", content: json(z.object({ name: z.string() })) } },
  })
  app.openapi(route, (c) => c.json(c.req.valid("json"), 200))
  app.onError((error, c) => {
    if (error instanceof BodyError) return c.json(error.fault, 400)
    throw error
  })
  const server = await serve({ host: "127.0.0.1", port: 0, drainMs: 0 })
  onTestFinished(server.close)
  server.handle(app.fetch)
  return async (body: string | undefined, type?: string, path = "/things/7") => {
    const init = { method: "POST", headers: type === undefined ? {} : { "content-type": type } }
    const answer = await fetch(server.url + path, body === undefined ? init : { ...init, body: new Blob([body]) })
    return answer.json()
  }
}

test("a validator gets the strictly parsed body of any allowed type, or the default for an empty one", async () => {
  const post = await start()
  const types = ["application/json", 'Application/JSON ; charset="UTF-8"', "application/json;"]
  for (const type of [...types, "application/json, Application/JSON"])
    expect(await post('{"name":"x"}', type)).toEqual({ name: "x" })
  expect(await post(undefined)).toEqual({ name: "none" })
  expect(await post("", "application/json")).toEqual({ name: "none" })
})

test("an invalid body or query is described in our words, or in the schema's", async () => {
  const post = await start()
  const json = "application/json"
  const cases = [
    [await post("{}"), { kind: "unsupported-media-type" }],
    [await post('{"name":"x"}', json, "/things/small"), { kind: "too-large", limit: 10 }],
    [await post('{"name":7}'.padEnd(10), json, "/things/small"), { kind: "invalid" }],
    [await post('{"name":7}', json), { kind: "invalid", path: "name", reason: "must be a string" }],
    [
      await post('{"other":7}', json),
      { kind: "invalid", path: "other", reason: "is not a known field; the known fields are name" },
    ],
    [await post("[]", json), { kind: "invalid", path: "", reason: "must be an object" }],
    [await post("{}", json, "/things/7?size=x"), { kind: "invalid", path: "size", reason: "must be digits" }],
  ] as const
  for (const [found, expected] of cases) expect(found).toMatchObject(expected)
})
