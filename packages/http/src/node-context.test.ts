import { Hono } from "hono"
import { expect, test } from "vitest"
import { presetHeader, requestHeader, serve } from "./index.ts"

const app = new Hono()
app.use(async (c, next) => {
  presetHeader(c, "x-early", "early")
  presetHeader(c, "x-both", "early")
  await next()
})
app.get("/", (c) => c.json({ given: requestHeader(c, "x-given") ?? null }, 200, { "x-both": "late" }))
app.get("/fails", () => {
  throw new Error("fails")
})
app.onError((_, c) => c.text("failed", 500))

type Get = (path: string, headers?: Record<string, string>) => Promise<Response>

test.each(["socket", "no socket"])("headers are read, and set beforehand, on errors too: %s", async (where) => {
  const server = await serve({ fetch: app.fetch, host: "127.0.0.1", port: 0, drainMs: 1000 })
  const get: Get =
    where === "socket"
      ? (path, headers = {}) => fetch(`http://127.0.0.1:${server.port}${path}`, { headers })
      : async (path, headers = {}) => app.request(path, { headers })
  const answer = await get("/", { "X-Given": "a, b" })
  expect(await answer.json()).toEqual({ given: "a, b" })
  expect(answer.headers.get("x-early")).toBe("early")
  expect(answer.headers.get("x-both")).toBe("late")
  expect(await (await get("/")).json()).toEqual({ given: null })
  const failure = await get("/fails")
  expect([failure.status, failure.headers.get("x-early")]).toEqual([500, "early"])
  await server.close()
})
