import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { BodyError } from "@svc/errors"
import { freePort } from "@svc/testing"
import { Hono } from "hono"
import { text as wholeText } from "node:stream/consumers"
import { afterEach, expect, onTestFinished, test, vi } from "vitest"
import {
  allowedMethods,
  type HttpEnv,
  requestContext,
  hasWholeBody,
  jsonBody,
  type RunningServer,
  serve,
} from "./index.ts"

// What has arrived meanwhile is read in between.
const passed = () => new Promise(setImmediate)

// More than the kernel takes at once.
const largeBytes = 10_000_000

const open: RunningServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const lines: Record<string, unknown>[] = []
const write = (level: string) => (line: object) => void lines.push({ level, ...line })
const requests = {
  log: { debug: write("debug"), info: write("info"), error: write("error"), warn: write("warn") },
  now: () => performance.now(),
  randomId: randomUUID,
  quiet: ["/quiet", "/away"],
}

const start = async (gate: Promise<void> = Promise.resolve(), deadlineMs = 5000) => {
  const app = new Hono<HttpEnv>()
  app.use(requestContext)
  const strict = jsonBody({ limit: 1000, deadlineMs })
  app.post("/echo/:secret", strict, async (c) => c.json({ got: await c.req.json<unknown>() }))
  app.use("/late", async (c, next) => {
    while (!hasWholeBody(c)) await passed()
    await next()
  })
  app.post("/late", strict, async (c) => c.json({ got: await c.req.json<unknown>() }))
  app.get("/quiet", (c) => c.body(null, 204))
  app.get("/away", (c) => c.body(null, 503))
  app.get("/broken", (c) => c.body(null, 503))
  app.get("/large", (c) => c.text("x".repeat(largeBytes)))
  app.get("/slow", async (c) => {
    await gate
    return c.text("done")
  })
  app.notFound((c) => {
    const allow = allowedMethods(app, c.req.path)
    return allow.length === 0 ? c.text("no", 404) : c.text("method", 405, { allow: allow.join(", ") })
  })
  app.onError((error, c) => {
    if (error instanceof BodyError) return c.json(error.fault, 400)
    throw error
  })
  app.get("/throws", () => {
    // Hono hands on what is no Error.
    throw "text"
  })
  const onUnreadable = (id: string, reason: string, status: number) => new Response(`${id} ${reason}`, { status })
  const server = await serve({ host: "127.0.0.1", port: 0, drainMs: 5000, requests, onUnreadable })
  server.handle(app.fetch)
  open.push(server)
  return { server, url: `http://127.0.0.1:${server.port}` }
}

const dial = async (port: number): Promise<{ socket: Socket; received: () => string }> => {
  const socket = connect(port, "127.0.0.1")
  let text = ""
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()))
  await once(socket, "connect")
  return { socket, received: () => text }
}

/** All that a connection gets for this text, once it is closed. */
const exchange = async (port: number, text: string): Promise<string> => {
  const { socket, received } = await dial(port)
  socket.write(text)
  await once(socket, "close")
  return received()
}

const post = (url: string, body: string | Uint8Array<ArrayBuffer>) =>
  fetch(url, { method: "POST", body: new Blob([body]), headers: { "content-type": "application/json" } })

test("an unknown method is 405 on any path, and anything but a request is 400", async () => {
  const { server } = await start()
  const statusOf = async (text: string) => (await exchange(server.port, text)).split(" ")[1]
  expect(await statusOf("BREW / HTTP/1.1\r\nHost: x\r\n\r\n")).toBe("405")
  expect(await statusOf("g-e.t /echo/x HTTP/1.1\r\nHost: x\r\n\r\n")).toBe("405")
  expect(await statusOf("CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\nbytes for the other end")).toBe("405")
  expect(await statusOf("CONNECT /echo/x HTTP/1.0\r\n\r\n")).toBe("405")
  for (const text of ["BREW /\r\n\r\n", "(x) / HTTP/1.1\r\nHost: x\r\n\r\n", "\x16\x03\x01\x00\x05 / HTTP/1.1\r\n\r\n"])
    expect(await statusOf(text)).toBe("400")
})

test.each([
  ["looks at once", "/echo/x"],
  ["looks late", "/late"],
])("a body in several pieces is read and counted whole, by a handler that %s", async (_, path) => {
  const { server } = await start()
  const answerTo = async (head: string, ...pieces: readonly string[]) => {
    const { socket, received } = await dial(server.port)
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n${head}\r\n\r\n`,
    )
    for (const piece of pieces) {
      await passed()
      socket.write(piece)
    }
    await once(socket, "close")
    return received().split("\r\n\r\n")[1]
  }
  const chunked = "Transfer-Encoding: chunked"
  expect(await answerTo("Content-Length: 12", '{"a":[1', ",2]} ")).toBe('{"got":{"a":[1,2]}}')
  expect(await answerTo(chunked, '3\r\n{"a\r\n2\r\n":\r\n3\r\n12}\r\n0\r\n\r\n')).toBe('{"got":{"a":12}}')
  expect(await answerTo(chunked, "2\r\n{}\r\n2\r\nxx\r\n0\r\n\r\n")).toContain('"invalid-json"')
  const large = "z".repeat(600).replace(/^/, "258\r\n")
  expect(await answerTo(chunked, `${large}\r\n${large}\r\n0\r\n\r\n`)).toContain('"too-large"')
})

test("a body over the limit is rejected as it arrives, without a declared length", async () => {
  const { server } = await start()
  const { socket, received } = await dial(server.port)
  socket.on("error", () => {})
  socket.write(
    "POST /echo/x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
  )
  socket.write(`800\r\n${"x".repeat(0x800)}\r\n`)
  await once(socket, "data")
  expect(received()).toContain("too-large")
  socket.destroy()
})

test("a body that stops arriving is rejected at its timeout", async () => {
  const { server } = await start(Promise.resolve(), 20)
  const { socket, received } = await dial(server.port)
  socket.write("POST /echo/x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{")
  await once(socket, "data")
  expect(received()).toContain('{"kind":"timeout"}')
  socket.destroy()
})

test("the log has the route's pattern and the response's request id, never the path or a header", async () => {
  const { url } = await start()
  lines.length = 0
  const answer = await post(`${url}/echo/svc_ak_hidden?key=hidden`, "{}")
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({ method: "POST", route: "/echo/:secret", status: 200 })
  expect(lines[0]?.["request_id"]).toBe(answer.headers.get("x-request-id"))
  const headers = { "x-request-id": "trace-1234", authorization: "Bearer hidden" }
  const kept = await fetch(`${url}/slow`, { headers })
  expect(JSON.stringify(lines)).not.toContain("hidden")
  expect(kept.headers.get("x-request-id")).toBe("trace-1234")
  const replaced = await fetch(`${url}/slow`, { headers: { "x-request-id": "bad id!" } })
  expect(replaced.headers.get("x-request-id")).toMatch(/^[\w-]{36}$/)
  lines.length = 0
  for (const path of ["/quiet", "/away", "/broken", "/nowhere"]) await fetch(url + path)
  expect(lines.map(({ level, route, status }) => [level, route, status])).toEqual([
    ["debug", "/quiet", 204],
    ["info", "/away", 503],
    ["error", "/broken", 503],
    ["info", "*", 404],
  ])
})

test("the first forwarding header from an untrusted peer is a warning, once", async () => {
  const { url } = await start()
  lines.length = 0
  for (const forwarded of ["192.0.2.1", "192.0.2.2"])
    await fetch(`${url}/quiet`, { headers: { "x-forwarded-for": forwarded } })
  expect(lines.filter(({ level }) => level === "warn")).toEqual([{ level: "warn", peer: "127.0.0.1" }])
})

test("only the log line of a rejected request has its account and its client's network", async () => {
  const app = new Hono<HttpEnv>()
  app.use(requestContext)
  app.get("/:status", (c) => {
    c.set("account", "agent-7")
    return c.body(null, c.req.param("status") === "200" ? 200 : 429)
  })
  const trustedProxies = [{ address: "127.0.0.0", prefix: 8, family: "ipv4" }] as const
  const server = await serve({ host: "127.0.0.1", port: 0, drainMs: 0, requests, trustedProxies })
  server.handle(app.fetch)
  open.push(server)
  lines.length = 0
  for (const [path, address] of [
    ["/429", "192.0.2.7"],
    ["/429", "2001:db8:1:2::3"],
    ["/200", "192.0.2.7"],
  ] as const)
    await fetch(server.url + path, { headers: { "x-forwarded-for": address } })
  expect(lines.map(({ account, network }) => [account, network])).toEqual([
    ["agent-7", "192.0.2.0/24"],
    ["agent-7", "2001:db8:1:2::/64"],
    [undefined, undefined],
  ])
})

test("closing still serves a request that was in transit on an idle connection, and tells it to close", async () => {
  const { server } = await start()
  const { socket, received } = await dial(server.port)
  socket.write("GET /quiet HTTP/1.1\r\nHost: x\r\n\r\n")
  await once(socket, "data")
  const closed = server.close()
  socket.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
  await once(socket, "close")
  expect(received()).toMatch(/204 [^]*HTTP\/1.1 200 [^]*connection: close[^]*done$/i)
  await closed
})

test("closing serves a connection that the kernel had taken and this process had yet to accept", async () => {
  const { server } = await start()
  const socket = connect(server.port, "127.0.0.1")
  socket.write("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
  // The socket has begun to connect then, and nothing is accepted before the next turn.
  await new Promise<void>((resolve) => process.nextTick(resolve))
  const closed = server.close()
  expect(await wholeText(socket)).toMatch(/^HTTP\/1.1 404 [^]*connection: close/i)
  await closed
})

test("closing lets a running request finish, tells its connection to close, and accepts no new one", async () => {
  const gate = Promise.withResolvers<void>()
  const { server, url } = await start(gate.promise)
  const inFlight = fetch(`${url}/slow`)
  const { socket, received } = await dial(server.port)
  socket.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
  await fetch(`${url}/nowhere`)
  const closed = server.close()
  expect(server.draining()).toBe(true)
  const outcome = () =>
    dial(server.port).then(
      () => "accepted",
      (error: NodeJS.ErrnoException) => error.code,
    )
  await expect.poll(outcome).toBe("ECONNREFUSED")
  gate.resolve()
  expect(await (await inFlight).text()).toBe("done")
  await once(socket, "close")
  expect(received()).toMatch(/connection: close/i)
  await closed
})

test("closing ends a connection whose client is still sending only after it has sent everything", async () => {
  const { server, url } = await start()
  const { socket, received } = await dial(server.port)
  await fetch(`${url}/quiet`)
  const closed = server.close()
  socket.write(`POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n${"b".repeat(1000)}`)
  await once(socket, "data")
  expect(received()).toMatch(/^HTTP\/1.1 404 /)
  expect(received()).not.toMatch(/connection: close/i)
  socket.write("b".repeat(299_000))
  await once(socket, "end")
  await closed
})

test("closing waits for a client that is still reading its response", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  onTestFinished(() => void vi.useRealTimers())
  const { server, url } = await start()
  const socket = connect(server.port, "127.0.0.1")
  socket.write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
  await once(socket, "readable")
  await fetch(`${url}/nowhere`)
  const seen = { closed: false }
  const closed = server.close().then(() => (seen.closed = true))
  vi.advanceTimersByTime(1000)
  await passed()
  const taken = wholeText(socket)
  while (!seen.closed) {
    vi.advanceTimersByTime(100)
    await passed()
  }
  expect((await taken).split("\r\n\r\n")[1]).toHaveLength(largeBytes)
  await closed
})

test("a body that nobody reads is discarded, however slowly it arrives, and its connection continues", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  const { server } = await start()
  const { socket, received } = await dial(server.port)
  socket.write(`POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n${"b".repeat(1000)}`)
  await once(socket, "data")
  vi.advanceTimersByTime(10_000)
  await passed()
  socket.write(`${"b".repeat(299_000)}GET /quiet HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  await once(socket, "close")
  expect(received()).toMatch(/^HTTP\/1.1 404 [^]*HTTP\/1.1 204 /)
})

test("a connection that its client wants to end stays open while the refused body arrives, at most for a second", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  const { server } = await start()
  const refuse = async () => {
    const { socket, received } = await dial(server.port)
    const head = "POST /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 300000\r\n\r\n"
    socket.write(`${head}${"b".repeat(1000)}`)
    await once(socket, "data")
    for (let turn = 0; turn < 5; turn++) await passed()
    expect([received().split("\r\n")[0], socket.readableEnded]).toEqual(["HTTP/1.1 404 Not Found", false])
    return socket
  }
  const sending = await refuse()
  sending.write("b".repeat(299_000))
  expect(await once(sending, "close")).toEqual([false])
  const silent = await refuse()
  vi.advanceTimersByTime(1000)
  expect(await once(silent, "close")).toEqual([false])
})

test("nothing after a request with Upgrade is served, because Node's parser would start inside a body", async () => {
  const { server } = await start()
  const upgrade = "GET /slow HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
  const head = "POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n"
  const before = "b".repeat(4096 - upgrade.length - head.length)
  const inside = "GET /quiet HTTP/1.1\r\nHost: x\r\n\r\n"
  lines.splice(0)
  const after = "b".repeat(9000 - before.length - inside.length)
  const received = await exchange(server.port, upgrade + head + before + inside + after)
  expect(received).toMatch(/^HTTP\/1.1 200 [^]*connection: close[^]*\r\n\r\ndone$/i)
  expect(lines).toMatchObject([{ method: "GET", status: 200 }])
})

test("a port in use is a plain failure", async () => {
  const { server } = await start()
  await expect(serve({ host: "127.0.0.1", port: server.port, drainMs: 1 })).rejects.toThrow(/EADDRINUSE/)
})

test("the second port serves as the first one does, and ends with it", async () => {
  const probePort = await freePort()
  const server = await serve({ host: "127.0.0.1", port: 0, probePort, drainMs: 5000 })
  server.handle(() => new Response("works"))
  const urls = [server.port, probePort].map((port) => `http://127.0.0.1:${port}`)
  for (const url of urls) expect(await (await fetch(url)).text()).toBe("works")
  const { socket, received } = await dial(probePort)
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
  await once(socket, "data")
  expect(received()).toContain("works")
  // It is idle and open still.
  await Promise.all([server.close(), once(socket, "close")])
  for (const url of urls) await expect(fetch(url)).rejects.toThrow("fetch failed")
})

test.each([
  "Host: a\r\nHost: a",
  "Host: a\r\nHost: b",
  "Host: a b",
  "Host: ",
  "Host: a@b",
  "Host: 1/echo/",
  "Host: 0?    !",
  "X-No-Host: a",
])("a request with %j is a clear 400", async (header) => {
  const { server } = await start()
  const received = await exchange(server.port, `GET /slow HTTP/1.1\r\n${header}\r\nConnection: close\r\n\r\n`)
  expect(received).toMatch(/^HTTP\/1.1 400 [^]*x-request-id: (\S+)\r\n[^]*\r\n\r\n\1 the Host header or/i)
})

test.each([
  ["POST /echo/x HTTP/1.1", "x, chunked"],
  ["POST /echo/x HTTP/1.1", "gzip\r\nTransfer-Encoding: chunked"],
  ["POST /echo/x HTTP/1.0\r\nConnection: keep-alive", "chunked"],
  ["GET /slow HTTP/1.1", "gzip, chunked"],
])("%s with a Transfer-Encoding of %j is rejected, and nothing after it is served", async (head, encoding) => {
  const { server } = await start()
  lines.length = 0
  const text = `${head}\r\nHost: x\r\nTransfer-Encoding: ${encoding}\r\n\r\n0\r\n\r\nGET /quiet HTTP/1.1\r\nHost: x\r\n\r\n`
  expect(await exchange(server.port, text)).toMatch(/^HTTP\/1.1 400 [^]*connection: close[^]*Transfer-Encoding must/i)
  expect(lines).toMatchObject([{ status: 400 }])
})

test.each([
  ["nonsense\r\n\r\n", "not valid HTTP/1.1"],
  ["GET /slow HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", "not valid HTTP/1.1"],
  [`GET /slow?${"y".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, "the URL and the headers are over 16 KiB"],
  [`GET /slow HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(90_000)}\r\n\r\n`, "the URL and the headers are over 16 KiB"],
  [
    "POST /echo/x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "not valid HTTP/1.1",
  ],
  ["GET /quiet HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "not valid HTTP/1.1"],
])("anything but HTTP gets the app's error with a logged id, and no handler sees it: %.60j", async (text, reason) => {
  const { server } = await start()
  lines.length = 0
  const received = await exchange(server.port, text)
  const [, id] = /^x-request-id: (\S+)\r$/im.exec(received) ?? []
  expect(received).toMatch(/^HTTP\/1.1 400 /)
  expect(received.split("\r\n\r\n").slice(1)).toEqual([`${id} ${reason}`])
  expect(lines).toMatchObject([{ request_id: id, status: 400, route: "*" }])
})

test.each([
  ["nonsense\r\n\r\n", /connection: close[^]*\r\n\r\ndone$/i],
  [
    "POST /echo/x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    /^[^{]*\r\n\r\ndone/,
  ],
])("%j behind a running request doesn't truncate or replace its response", async (broken, end) => {
  const gate = Promise.withResolvers<void>()
  const { server, url } = await start(gate.promise, 20)
  const answered = exchange(server.port, `GET /slow HTTP/1.1\r\nHost: x\r\n\r\n${broken}`)
  await fetch(`${url}/nowhere`)
  gate.resolve()
  expect(await answered).toMatch(/^HTTP\/1.1 200 /)
  expect(await answered).toMatch(end)
})

test("a broken body whose request already got a response gets no second one", async () => {
  const { server } = await start()
  const { socket, received } = await dial(server.port)
  socket.write("POST /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
  await once(socket, "data")
  socket.write("zz\r\n")
  await once(socket, "close")
  expect(received().match(/HTTP\/1.1 /g)).toHaveLength(1)
})

test("a CONNECT behind a request ends the connection after the response to that request", async () => {
  const gate = Promise.withResolvers<void>()
  const { server } = await start(gate.promise)
  const { socket, received } = await dial(server.port)
  socket.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\nCONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n")
  await passed()
  gate.resolve()
  await once(socket, "close")
  expect(received().match(/HTTP\/1.1 .../g)).toEqual(["HTTP/1.1 200"])
  expect(received()).toContain("done")
})

test("HTTP/1.0 needs no Host, and an unknown Expect is ignored", async () => {
  const { server } = await start()
  for (const head of [
    "GET /quiet HTTP/1.0\r\n\r\n",
    "GET /quiet HTTP/1.1\r\nHost: x\r\nExpect: more\r\nConnection: close\r\n\r\n",
  ])
    expect(await exchange(server.port, head)).toMatch(/^HTTP\/1.1 204 /)
})

test("an error that an app lets escape is a 500, not a fault of the request", async () => {
  const { url } = await start()
  expect((await fetch(`${url}/throws`)).status).toBe(500)
})
