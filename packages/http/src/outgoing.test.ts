import { Hono } from "hono"
import { expect, test } from "vitest"
import { presetHeader, serve } from "./index.ts"

const app = new Hono()
app.use(async (c, next) => {
  presetHeader(c, "x-early", "early")
  presetHeader(c, "x-both", "early")
  await next()
})
app.get("/", (c) => c.json({ ok: true }, 200, { "x-both": "late" }))
app.get("/fails", () => {
  throw new Error("fails")
})
app.onError((_, c) => c.text("failed", 500))

type Get = (path: string) => Promise<Response>

test.each(["socket", "no socket"])(
  "a header that is set beforehand is on every answer, errors too: %s",
  async (where) => {
    const server = await serve({ fetch: app.fetch, host: "127.0.0.1", port: 0, drainMs: 1000 })
    const get: Get =
      where === "socket" ? (path) => fetch(`http://127.0.0.1:${server.port}${path}`) : async (path) => app.request(path)
    const answer = await get("/")
    expect(answer.headers.get("x-early")).toBe("early")
    expect(answer.headers.get("x-both")).toBe("late")
    const failure = await get("/fails")
    expect([failure.status, failure.headers.get("x-early")]).toEqual([500, "early"])
    await server.close()
  },
)
