import { Hono } from "hono"
import { connect } from "node:net"
import { expect, test } from "vitest"
import { requestHeader, serve, type ServedEnv } from "./index.ts"

const app = new Hono<ServedEnv>()
app.get("/", (c) => c.json({ ok: true }, 200, { "x-both": "late" }))
app.get("/preset", (c) => {
  c.env.outgoing.preset["x-own"] = "own"
  throw new Error("fails")
})
app.get("/forwarded", (c) => c.text(`[${requestHeader(c, "x-forwarded-for")}][${requestHeader(c, "x-none")}]`))
app.onError((_, c) => c.text("failed", 500))

const start = () =>
  serve({
    fetch: app.fetch,
    host: "127.0.0.1",
    port: 0,
    drainMs: 1000,
    headers: { "x-early": "early", "x-both": "early" },
  })

test("a header that is set beforehand is on every answer, errors too, unless the answer names it itself", async () => {
  const server = await start()
  const answer = await fetch(`http://127.0.0.1:${server.port}/`)
  expect([answer.headers.get("x-early"), answer.headers.get("x-both")]).toEqual(["early", "late"])
  const failure = await fetch(`http://127.0.0.1:${server.port}/preset`)
  expect([failure.status, failure.headers.get("x-early"), failure.headers.get("x-own")]).toEqual([500, "early", "own"])
  const other = await fetch(`http://127.0.0.1:${server.port}/nowhere`)
  expect([other.headers.get("x-early"), other.headers.get("x-own")]).toEqual(["early", null])
  await server.close()
})

test("a header in several lines is one text, joined by commas", async () => {
  const server = await start()
  const answer = await new Promise<string>((resolve) => {
    let text = ""
    const socket = connect(server.port, "127.0.0.1")
    socket.on("data", (chunk: Buffer) => (text += chunk.toString())).on("close", () => resolve(text))
    socket.write(
      "GET /forwarded HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: a\r\nX-Forwarded-For: b\r\nConnection: close\r\n\r\n",
    )
  })
  expect(answer).toMatch(/\[a, b\]\[undefined\]$/)
  await server.close()
})
