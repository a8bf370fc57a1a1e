import { once } from "node:events"
import { connect, type Socket } from "node:net"
import fc from "fast-check"
import { Hono } from "hono"
import { afterEach, expect, test } from "vitest"
import {
  type Bounds,
  countStream,
  defaultBounds,
  type Exchange,
  type Fetch,
  type HttpEnv,
  readBody,
  requestContext,
  type RunningServer,
  serve,
} from "../index.ts"

let server: RunningServer | undefined
const sockets: Socket[] = []
const warnings: unknown[] = []
let begun = 0
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server?.close()
  server = undefined
  warnings.splice(0)
  begun = 0
})

const large = "x".repeat(4_000_000)

/** A response without an end. */
const endless = (env: Exchange): Response => {
  countStream({ env })
  return new Response(new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from("[open]")) }))
}

const answers: Fetch = async (_, env) => {
  begun++
  const path = env.incoming.url ?? ""
  if (path === "/large") return new Response(large)
  if (path === "/stuck") return new Promise<Response>(() => {})
  if (path === "/stream") return endless(env)
  return new Response(`[${path}]`)
}

/** Reads bodies; `/with/<account>` has a valid key, `/page/<account>` one that many have. */
const bodies = new Hono<HttpEnv>()
bodies.use(requestContext)
bodies.onError((_, c) => c.body(null, 400))
bodies.get("/stream/:account?", (c) => {
  begun++
  c.set("account", c.req.param("account"))
  return endless(c.env)
})
bodies.post("/:with?/:account?", async (c) => {
  begun++
  c.set("account", c.req.param("account"))
  c.set("isShared", c.req.param("with") === "page")
  return c.text(`[${(await readBody(c, { limit: 10_000_000 })).length}]`)
})

const loopback = [{ address: "127.0.0.0", prefix: 8, family: "ipv4" }] as const

const start = async (bounds: Partial<Bounds> = {}, fetch = answers, proxies: typeof loopback | [] = []) => {
  const quiet = () => {}
  const log = { debug: quiet, info: quiet, error: quiet, warn: (details: unknown) => void warnings.push(details) }
  const requests = { log, now: () => performance.now(), randomId: () => "id-of-request" }
  const all = { ...defaultBounds, ...bounds }
  server = await serve({ host: "127.0.0.1", port: 0, drainMs: 0, requests, bounds: all, trustedProxies: proxies })
  server.handle(fetch)
  return server.port
}

/** A client that reads nothing until it is told to. */
const dial = async (port: number, text = "", localAddress = "127.0.0.1"): Promise<Socket> => {
  const socket = connect({ port, host: "127.0.0.1", localAddress }).on("error", () => {})
  sockets.push(socket)
  await once(socket, "connect")
  socket.write(text)
  return socket
}
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const post = (path: string, length: number, body: string, headers = ""): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`

const received = (socket: Socket): { text: string } => {
  const all = { text: "" }
  socket.on("data", (chunk: Buffer) => (all.text += chunk.toString("latin1")))
  return all
}

const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve()
    else socket.resume().once("close", () => resolve())
  })

/** Writes the rest of a request and waits for what it has to be answered with. */
const finish = async (socket: Socket, rest: string, answer: string): Promise<void> => {
  const all = received(socket)
  socket.write(rest)
  await expect.poll(() => all.text).toContain(answer)
}

test("bodies of pipelined requests are read whole, in whatever pieces they arrive", async () => {
  const port = await start(
    {},
    async (_, env) => new Response(`[${(await readBody({ env }, { limit: 20_000 })).length}]`),
  )
  const sizes = Array.from({ length: 17 }, (_, i) => (i * 7397) % 20_000)
  const text = sizes.map((size) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n${"b".repeat(size)}`)
  const socket = await dial(port)
  const all = received(socket)
  for (let at = 0, bytes = text.join(""); at < bytes.length; at += 7919) socket.write(bytes.slice(at, at + 7919))
  const found = () => [...all.text.matchAll(/\[(\d+)\]/g)].map(([, size]) => Number(size))
  await expect.poll(found).toHaveLength(17)
  expect(found()).toEqual(sizes)
})

test("pipelined requests of any size get their responses in order", async () => {
  const sized: Fetch = async (_, env) => {
    const [, path, size] = /^(.*)\?(.*)$/.exec(env.incoming.url ?? "") ?? []
    const { length } = await readBody({ env }, { limit: 100_000 })
    return new Response(`[${path} ${length}]${"x".repeat(Number(size))}`)
  }
  const request = fc.record({
    head: fc.nat(15_000),
    body: fc.oneof(fc.constant(0), fc.nat(60_000)),
    // The largest is more than the kernel takes at once.
    response: fc.constantFrom(0, 100, 4_000_000),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 2, maxLength: 17 }), async (all) => {
      const port = await start({}, sized)
      const socket = await dial(port)
      const texts = all.map(({ head, body, response }, index) =>
        post(`/${index}?${response}`, body, "b".repeat(body), `x-head: ${"h".repeat(head)}\r\n`),
      )
      socket.write(texts.join(""))
      const wanted = all.map(({ body }, index) => `[/${index} ${body}]`)
      const found: string[] = []
      let end = ""
      for await (const chunk of socket) {
        end += String(chunk)
        found.push(...(end.match(/\[.*?\]/g) ?? []))
        end = end.slice(Math.max(end.lastIndexOf("]") + 1, end.length - 20))
        if (found.length === wanted.length) break
      }
      expect(found).toEqual(wanted)
      await server?.close()
    }),
    { numRuns: 15 },
  )
})

test("a request doesn't start before the previous response is read, and an idle reader is disconnected", async () => {
  const port = await start({ answerMs: 1, bytesPerSecond: 40_000_000 })
  const socket = await dial(port, get("/large").repeat(10))
  await expect.poll(() => warnings).toEqual([{ clients: { answerMs: 1 } }])
  // The system's own buffers take an answer or two.
  expect(begun).toBeLessThan(10)
  await closed(socket)
})

test("a client that may take a response for longer than a timer takes isn't disconnected at once", async () => {
  const port = await start({ bytesPerSecond: 1 })
  const slow = await dial(port, get("/large"))
  expect(await (await fetch(`http://127.0.0.1:${port}/other`)).text()).toBe("[/other]")
  const all = received(slow)
  await expect.poll(() => all.text.length).toBeGreaterThan(large.length)
  expect(warnings).toEqual([])
})

test("unread responses are limited: the client with most is disconnected, others are served", async () => {
  const port = await start({ heldBytes: 20_000_000 })
  const modest = await dial(port, get("/large"), "127.0.0.2")
  for (let i = 0; i < 8; i++) {
    await dial(port, get("/large").repeat(10))
    expect(await (await fetch(`http://127.0.0.1:${port}/other`)).text()).toBe("[/other]")
  }
  expect(warnings[0]).toMatchObject({ clients: { heldBytes: 1 } })
  const all = received(modest)
  await expect.poll(() => all.text.length).toBeGreaterThan(large.length)
})

test("a response above the total limit costs only its client the connection", async () => {
  const port = await start({ heldBytes: 5_000_000 }, async (_, { incoming }) =>
    incoming.url === "/huge" ? new Response("x".repeat(20_000_000)) : new Response("x".repeat(3_500_000)),
  )
  const readers = [await dial(port, get("/some"), "127.0.0.2"), await dial(port, get("/some"), "127.0.0.3")]
  await closed(await dial(port, get("/huge"), "127.0.0.4"))
  for (const one of readers) {
    const all = received(one)
    await expect.poll(() => all.text.length).toBeGreaterThan(3_500_000)
  }
})

test.each([
  ["from another address", "/", "127.0.0.2"],
  ["with a valid key, from the same address", "/with/7", "127.0.0.1"],
])("unfinished bodies cost others nothing: an upload %s is finished", async (_, path, address) => {
  const port = await start({ heldBytes: 1_000_000 }, bodies.fetch)
  const upload = await dial(port, post(path, 200_000, "b".repeat(150_000)), address)
  await expect.poll(() => begun).toBe(1)
  const flood = await Promise.all(Array.from({ length: 40 }, () => dial(port, post("/", 60_000, "b".repeat(59_999)))))
  await Promise.race(flood.map(closed))
  await finish(upload, "b".repeat(50_000), "[200000]")
})

test("clients without a key, however many their addresses, leave memory for those with one", async () => {
  const port = await start({ heldBytes: 1_000_000 }, bodies.fetch)
  const upload = await dial(port, post("/with/7", 200_000, "b".repeat(190_000)))
  await expect.poll(() => begun).toBe(1)
  const addresses = Array.from({ length: 60 }, (_, i) => `127.0.1.${i + 1}`)
  const flood = await Promise.all(addresses.map((one) => dial(port, post("/", 30_000, "b".repeat(29_999)), one)))
  await Promise.race(flood.map(closed))
  await finish(upload, "b".repeat(10_000), "[200000]")
})

test("whoever uses an account's key that is in a page takes nothing from the account", async () => {
  const port = await start({ heldBytes: 1_000_000 }, bodies.fetch)
  const upload = await dial(port, post("/with/7", 200_000, "b".repeat(190_000)), "127.0.0.2")
  await expect.poll(() => begun).toBe(1)
  const flood = await Promise.all(
    Array.from({ length: 60 }, (_, i) => dial(port, post("/page/7", 30_000, "b".repeat(29_999)), `127.0.1.${i + 1}`)),
  )
  await Promise.race(flood.map(closed))
  await finish(upload, "b".repeat(10_000), "[200000]")
})

test("slow bodies of one client leave others their connections, and its own new ones are served too", async () => {
  const port = await start({ connections: 20 }, bodies.fetch)
  const upload = await dial(port, post("/", 10, "b"), "127.0.0.2")
  for (let i = 0; i < 40; i++) await dial(port, post("/", 10, "b"))
  for (const address of ["127.0.0.1", "127.0.0.3"]) {
    await finish(await dial(port, "", address), post("/", 3, "abc"), "[3]")
  }
  await expect(finish(upload, "b".repeat(9), "[10]")).resolves.toBeUndefined()
})

test("slow bodies from ever new addresses close only connections that have been longest without a request", async () => {
  const port = await start({ connections: 20 }, bodies.fetch)
  const slow = (from: number) => dial(port, post("/", 10, "b"), `127.0.1.${from}`)
  for (let i = 1; i <= 40; i++) await slow(i)
  const [silent, known] = [await dial(port, "", "127.0.0.2"), await dial(port, "", "127.0.0.3")]
  for (let i = 41; i <= 50; i++) await slow(i)
  await finish(known, post("/", 1, "a"), "[1]")
  for (let i = 51; i <= 57; i++) await slow(i)
  for (const one of [silent, known]) await finish(one, post("/", 3, "abc"), "[3]")
  expect([silent.closed, known.closed]).toEqual([false, false])
})

test("clients behind a trusted proxy count separately, and one's slow bodies cost another nothing", async () => {
  const port = await start({ connections: 20, heldBytes: 1_000_000 }, bodies.fetch, loopback)
  const from = (client: string) => `X-Forwarded-For: ${client}\r\n`
  const upload = await dial(port, post("/", 200_000, "b".repeat(150_000), from("192.0.2.1")))
  await expect.poll(() => begun).toBe(1)
  const idle = await dial(port)
  for (let i = 0; i < 40; i++) await dial(port, post("/", 60_000, "b".repeat(59_999), from("192.0.2.9")))
  await expect.poll(() => begun).toBe(41)
  await finish(upload, "b".repeat(50_000), "[200000]")
  await finish(idle, post("/", 2, "ab", from("192.0.2.2")), "[2]")
})

test("one connection above the limit closes an idle one; one that is served stays", async () => {
  const port = await start({ connections: 3 })
  const busy = await dial(port, get("/stuck"))
  await expect.poll(() => begun).toBe(1)
  const idle = await dial(port)
  await dial(port)
  const answer = fetch(`http://127.0.0.1:${port}/new`)
  await closed(idle)
  expect(await (await answer).text()).toBe("[/new]")
  expect(busy.destroyed).toBe(false)
})

test("if all are being served, one connection above the limit is rejected", async () => {
  const port = await start({ connections: 2 })
  for (const count of [1, 2]) {
    await dial(port, get("/stuck"))
    await expect.poll(() => begun).toBe(count)
  }
  await closed(await dial(port))
  expect(begun).toBe(2)
})

/** Opens a stream and waits for its beginning. */
const stream = async (port: number, path: string, address: string): Promise<Socket> => {
  const socket = await dial(port, get(path), address)
  const all = received(socket)
  await expect.poll(() => all.text).toContain("[open]")
  return socket
}

test("streams get half of the connections, and those without a key 3/4 of these: the client with most gives way", async () => {
  const port = await start({ connections: 16 }, bodies.fetch)
  const few = await stream(port, "/stream", "127.0.0.2")
  const keyed = await stream(port, "/stream/7", "127.0.0.3")
  const many: Socket[] = []
  for (let i = 0; i < 8; i++) many.push(await stream(port, "/stream", "127.0.0.3"))
  await Promise.all(many.slice(0, 3).map(closed))
  for (let i = 0; i < 2; i++) await stream(port, "/stream/8", "127.0.0.3")
  await Promise.all(many.slice(3, 4).map(closed))
  expect([few, keyed, ...many.slice(4)].map(({ closed: isClosed }) => isClosed)).not.toContain(true)
})

test("a stream gives way to a new connection if all others are being served", async () => {
  const port = await start({ connections: 4 })
  const open = await stream(port, "/stream", "127.0.0.2")
  for (let i = 0; i < 3; i++) await dial(port, get("/stuck"), `127.0.0.${3 + i}`)
  await expect.poll(() => begun).toBe(4)
  await finish(await dial(port), get("/new"), "[/new]")
  await closed(open)
})

test("no request is served behind a stream", async () => {
  const port = await start()
  await closed(await dial(port, get("/stream") + get("/some")))
  const open = await stream(port, "/stream", "127.0.0.2")
  open.write(get("/some"))
  await closed(open)
  expect(begun).toBe(2)
})

test("a GET starts after its body is discarded, so no response outlives an unread body", async () => {
  const port = await start()
  const socket = await dial(
    port,
    `GET /some HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n${"b".repeat(99_999)}`,
  )
  await finish(await dial(port), get("/other"), "[/other]")
  expect(begun).toBe(1)
  await finish(socket, "b", "[/some]")
})

test("a body in needlessly small chunks costs its client the connection, read or not", async () => {
  const chunk = (bytes: number): string => `${bytes.toString(16)}\r\n${"b".repeat(bytes)}\r\n`
  const port = await start({}, bodies.fetch)
  const chunked = (path: string) => `${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`
  await finish(await dial(port), `${chunked("POST /")}${chunk(64).repeat(2000)}0\r\n\r\n`, "[128000]")
  await finish(await dial(port), `${chunked("POST /")}${chunk(1).repeat(512)}0\r\n\r\n`, "[512]")
  for (const path of ["POST /", "PUT /nowhere", "GET /nowhere"])
    await closed(await dial(port, chunked(path) + chunk(1).repeat(600)))
  expect(warnings[0]).toEqual({ clients: { smallChunks: 1 } })
})

test("a client that sends more than 17 requests ahead of responses is disconnected; 17 are served", async () => {
  const port = await start()
  await finish(await dial(port), get("/some").repeat(16) + get("/last"), "[/last]")
  await closed(await dial(port, get("/stuck").repeat(1000)))
  expect([begun, warnings]).toEqual([18, [{ clients: { waitingRequests: 1 } }]])
})

test("waiting requests are limited in total: the client with most is disconnected", async () => {
  const port = await start({ heldBytes: 14 * 4096 })
  const few = await dial(port, get("/stuck").repeat(5))
  await expect.poll(() => begun).toBe(1)
  const many = await dial(port, get("/stuck").repeat(16))
  await closed(many)
  expect(few.destroyed).toBe(false)
  expect(begun).toBe(2)
})
