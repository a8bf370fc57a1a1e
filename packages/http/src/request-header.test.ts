import { Hono } from "hono"
import { connect } from "node:net"
import { expect, test } from "vitest"
import { requestHeader, serve } from "./index.ts"

const app = new Hono().get("/", (c) =>
  c.text(`[${requestHeader(c, "x-forwarded-for")}][${requestHeader(c, "x-none")}]`),
)

test("a header is the same text behind a socket and without one, its lines joined", async () => {
  const init = new Headers([
    ["x-forwarded-for", "a"],
    ["x-forwarded-for", "b"],
  ])
  expect(await (await app.request("/", { headers: init })).text()).toBe("[a, b][undefined]")
  const server = await serve({ fetch: app.fetch, host: "127.0.0.1", port: 0, drainMs: 1000 })
  const answer = await new Promise<string>((resolve) => {
    let text = ""
    const socket = connect(server.port, "127.0.0.1")
    socket.on("data", (chunk: Buffer) => (text += chunk.toString())).on("close", () => resolve(text))
    socket.write("GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: a\r\nX-Forwarded-For: b\r\nConnection: close\r\n\r\n")
  })
  expect(answer).toMatch(/\[a, b\]\[undefined\]$/)
  await server.close()
})
