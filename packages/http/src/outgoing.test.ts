import { Hono } from "hono"
import { connect } from "node:net"
import { expect, test } from "vitest"
import { fixedHeaders, requestHeader, serve, type ServedEnv, setHeader } from "./index.ts"

const app = new Hono<ServedEnv>()
app.get("/", (c) => c.json({ ok: true }, 200, { "x-both": "late" }))
app.get("/preset", (c) => {
  setHeader(c, "X-Own", "own")
  throw new Error("fails")
})
app.get("/forwarded", (c) => c.text(`[${requestHeader(c, "x-forwarded-for")}][${requestHeader(c, "x-none")}]`))
app.get("/cases", (c) => {
  setHeader(c, "X-Early", "handler")
  setHeader(c, "x-BOTH", "handler")
  return new Response(null, { headers: { "X-Both": "answer" } })
})
app.onError((_, c) => c.text("failed", 500))

const start = async () => {
  const headers = { "x-early": "early", "x-both": "early" }
  const server = await serve({ host: "127.0.0.1", port: 0, drainMs: 1000, headers })
  server.handle(app.fetch)
  return server
}

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

test("one name in two cases goes out once: the answer's own wins over what was set before, and that over the server's", async () => {
  const server = await start()
  const text = await new Promise<string>((resolve) => {
    let all = ""
    const socket = connect(server.port, "127.0.0.1")
    socket.on("data", (chunk: Buffer) => (all += chunk.toString())).on("close", () => resolve(all))
    socket.write("GET /cases HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
  })
  const lines = text.split("\r\n").filter((line) => /^x-/i.test(line))
  expect(lines.map((line) => line.toLowerCase()).toSorted()).toEqual(["x-both: answer", "x-early: handler"])
  await server.close()
})

test("fixed headers go out as any others would, whatever was set before and whatever the method", async () => {
  const headers = { "X-Both": "answer", ETag: '"a"', "Content-Type": "text/plain" }
  const fixed = fixedHeaders(headers)
  const server = await serve({ host: "127.0.0.1", port: 0, drainMs: 1000, headers: { "x-early": "early" } })
  const twice = new Hono<ServedEnv>()
  for (const [path, given] of [
    ["/new", headers],
    ["/fixed", fixed],
  ] as const)
    twice.on(["GET", "POST"], path, (c) => {
      if (c.req.query("set") !== undefined) setHeader(c, c.req.query("set") ?? "", "set")
      return new Response(c.req.query("empty") === undefined ? "body" : null, { status: 203, headers: given })
    })
  server.handle(twice.fetch)
  const answers = async (path: string): Promise<string> => {
    const socket = connect(server.port, "127.0.0.1")
    for (const target of ["", "?set=x-both", "?set=x-other", "?set=x-early", "?empty"])
      for (const method of ["GET", "POST", "HEAD"])
        socket.write(`${method} ${path}${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`)
    socket.write(`GET ${path} HTTP/1.0\r\n\r\n`)
    const text = (await socket.setEncoding("utf8").toArray()).join("")
    const heads = text.replaceAll(/^date: .*\r\n/gim, "").split("HTTP/1.1 ")
    return heads.map((head) => head.split("\r\n").toSorted().join("\n")).join("\n\n")
  }
  expect(await answers("/fixed")).toBe(await answers("/new"))
  expect(() => fixedHeaders({ "x-bad": "a\r\nb: c" })).toThrow(TypeError)
  expect(() => fixedHeaders({ "a b": "c" })).toThrow(TypeError)
  await server.close()
})
