import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { afterEach, expect, test, vi } from "vitest"
import { type Bounds, defaultBounds, readBody, type Fetch, type RunningServer, serve } from "./index.ts"

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

const answers: Fetch = async (_, { incoming }) => {
  begun++
  const path = incoming.url ?? ""
  if (path === "/large") return new Response(large)
  if (path === "/stuck") return new Promise<Response>(() => {})
  return new Response(`[${path}]`)
}

const start = async (bounds: Partial<Bounds> = {}, fetch = answers): Promise<number> => {
  const log = { request: () => {}, warn: (details: unknown) => void warnings.push(details) }
  const requests = { log, now: () => performance.now(), randomId: () => "id-of-request" }
  const all = { ...defaultBounds, ...bounds }
  server = await serve({ host: "127.0.0.1", port: 0, drainMs: 0, requests, bounds: all })
  server.handle(fetch)
  return server.port
}

/** A client that reads nothing until it is told to. */
const dial = async (port: number, text = ""): Promise<Socket> => {
  const socket = connect(port, "127.0.0.1").on("error", () => {})
  sockets.push(socket)
  await once(socket, "connect")
  socket.write(text)
  return socket
}
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

const received = (socket: Socket): { text: string } => {
  const all = { text: "" }
  socket.on("data", (chunk: Buffer) => (all.text += chunk.toString()))
  return all
}

const closed = (socket: Socket): Promise<unknown> =>
  socket.closed ? Promise.resolve() : once(socket.resume(), "close")

test("thousands of pipelined requests of a client that reads are all answered, in their order", async () => {
  const port = await start()
  const paths = Array.from({ length: 5000 }, (_, i) => `/${i}`)
  const socket = await dial(port)
  const all = received(socket)
  for (const path of paths) socket.write(get(path))
  await vi.waitFor(() => expect(all.text).toContain("[/4999]"), { timeout: 20_000 })
  expect([...all.text.matchAll(/\[(.*?)\]/g)].map(([, path]) => path)).toEqual(paths)
})

test("bodies of pipelined requests are read whole, whatever the pieces they come in", async () => {
  const port = await start({}, async (request) => new Response(`[${(await request.text()).length}]`))
  const sizes = Array.from({ length: 300 }, (_, i) => (i * 397) % 20_000)
  const text = sizes.map((size) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n${"b".repeat(size)}`)
  const socket = await dial(port)
  const all = received(socket)
  for (let at = 0, bytes = text.join(""); at < bytes.length; at += 7919) socket.write(bytes.slice(at, at + 7919))
  const found = () => [...all.text.matchAll(/\[(\d+)\]/g)].map(([, size]) => Number(size))
  await vi.waitFor(() => expect(found()).toHaveLength(300), { timeout: 20_000 })
  expect(found()).toEqual(sizes)
})

test("a request is not begun while the answer before it is not taken, and its client is cut off in time", async () => {
  const port = await start({ answerMs: 1, bytesPerSecond: 40_000_000 })
  const socket = await dial(port, get("/large").repeat(1000))
  await vi.waitFor(() => expect(warnings).toEqual([{ clients: { answerMs: 1 } }]))
  // The system's own buffers take an answer or two.
  expect(begun).toBeLessThan(20)
  await closed(socket)
})

test("answers that nobody takes are held up to a bound in all: whoever is slow longest is cut off, others are served", async () => {
  const port = await start({ heldBytes: 10_000_000 })
  const first = await dial(port, get("/large").repeat(20))
  let last = first
  for (let i = 0; i < 8; i++) {
    last = await dial(port, get("/large").repeat(20))
    expect(await (await fetch(`http://127.0.0.1:${port}/other`)).text()).toBe("[/other]")
  }
  await closed(first)
  expect(last.destroyed).toBe(false)
  expect(warnings[0]).toEqual({ clients: { heldBytes: 1 } })
})

test("bodies that never end are held up to a bound in all", async () => {
  const port = await start({ heldBytes: 300_000 }, async (raw, env) => {
    return new Response(`[${(await readBody({ env, req: { raw } }, { limit: 1_000_000, deadlineMs: 60_000 })).length}]`)
  })
  const head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n"
  const first = await dial(port, head + "b".repeat(199_999))
  const second = await dial(port, head + "b".repeat(199_999))
  await Promise.race([closed(first), closed(second)])
  const rest = first.destroyed || first.closed ? second : first
  const all = received(rest)
  rest.write("b")
  await vi.waitFor(() => expect(all.text).toContain("[200000]"))
})

test("more connections than allowed close the oldest idle ones; one that is served stays", async () => {
  const port = await start({ connections: 3 })
  const busy = await dial(port, get("/stuck"))
  await vi.waitFor(() => expect(begun).toBe(1))
  const idle = await dial(port)
  await dial(port)
  const answer = fetch(`http://127.0.0.1:${port}/new`)
  await closed(idle)
  expect(await (await answer).text()).toBe("[/new]")
  expect(busy.destroyed).toBe(false)
})

test("when all are being served, one connection more is refused", async () => {
  const port = await start({ connections: 2 })
  for (const count of [1, 2]) {
    await dial(port, get("/stuck"))
    await vi.waitFor(() => expect(begun).toBe(count))
  }
  await closed(await dial(port))
  expect(begun).toBe(2)
})

test("requests that wait are bounded in all: the client with most of them is cut off", async () => {
  const port = await start({ waitingRequests: 30 })
  const few = await dial(port, get("/stuck").repeat(5))
  await vi.waitFor(() => expect(begun).toBe(1))
  const many = await dial(port, get("/stuck").repeat(100))
  await closed(many)
  expect(few.destroyed).toBe(false)
  expect(begun).toBe(2)
})
