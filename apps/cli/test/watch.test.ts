import { once } from "node:events"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { type WebSocket, WebSocketServer } from "ws"
import type { Stream } from "@svc/client"
import { createFollowing } from "../src/mcp/following.ts"
import { startMcp } from "./mcp-client.ts"
import { serve, startServer } from "./server.ts"
import { expectError, makeTool } from "./tool.ts"

const view = "Wallet/list"
const stream = new WebSocketServer({ host: "127.0.0.1", port: 0, handleProtocols: () => "svc.stream.v1" })
await once(stream, "listening")
const address = stream.address()
const websocket_url = `ws://127.0.0.1:${typeof address === "object" ? address?.port : ""}/transfers`
const schema = { entities: [{ name: "Wallet", views: [{ id: view }] }] }
const platform = await startServer(({ target }) => ({
  body: target === "/ws/sessions" ? { token: "any" } : { name: "transfers", websocket_url, schema },
}))
const tool = await makeTool()
const env = { SVC_API_URL: platform.url, SVC_API_KEY: "svc_ak_test", XDG_CONFIG_HOME: tool.home }
afterAll(() => stream.close())

/** What the stream sends from now on when somebody subscribes. */
const serving = (onSubscribe: (socket: WebSocket) => void) =>
  stream
    .removeAllListeners("connection")
    .on("connection", (socket) => socket.once("message", () => onSubscribe(socket)))
const sendSnapshot = (socket: WebSocket, data: readonly object[]): void =>
  socket.send(JSON.stringify({ op: "snapshot", entity: view, data, complete: true }))

test("svc watch reports each reconnection once on standard error, and continues with what has changed meanwhile", async () => {
  let connections = 0
  serving((socket) => {
    sendSnapshot(socket, [{ key: `k${++connections}`, data: {} }])
    if (connections < 3) socket.close(1012)
  })
  const { code, stdout, stderr } = await tool.svc(["watch", "transfers"], { env, until: '"k3"' })
  expect([code, stderr]).toEqual([0, "The connection was lost. Reconnecting…\n".repeat(2)])
  const lines = stdout.trim().split("\n")
  expect(
    lines.map((line) =>
      Object.values(JSON.parse(line) as object)
        .slice(0, 2)
        .join(" "),
    ),
  ).toEqual(["snapshot k1", "delete k1", "snapshot k2", "delete k2", "snapshot k3"])
})

test("svc watch --where ends with an error when a new version of the stack lacks the field, and isn't silent for ever", async () => {
  let path = "sent.sol"
  const entities = () => [{ name: "Wallet", fields: [{ path, rust_type: "f64" }], views: [{ id: view }] }]
  const api = await serve(({ target }) => ({
    body:
      target === "/ws/sessions"
        ? { token: "any" }
        : { name: "transfers", websocket_url, schema: { entities: entities(), types: [] } },
  }))
  serving((socket) => {
    sendSnapshot(socket, [{ key: "k1", data: path === "sent.sol" ? { sent: { sol: 2 } } : {} }])
    path = "sent.lamports"
    socket.close(1012)
  })
  const ended = await tool.svc(["watch", "transfers", "--where", "sent.sol>1", "--for", "20", "--json"], {
    env: { ...env, SVC_API_URL: api.url },
  })
  expect([ended.code, ended.stdout]).toEqual([1, expect.stringContaining('"k1"')])
  expect(ended.stdout + ended.stderr).toMatch(/Wallet\/list has no field .*sent\.sol.*Its fields: sent\.lamports/s)
})

test("a wait for a change of a stream that sends no records says what to do next", async () => {
  serving(() => {})
  const mcp = await startMcp(await tool.file(), env)
  const waited = await mcp.call("wait_for_change", { stack: "transfers", timeout_seconds: 1 })
  await mcp.close()
  const hint = expect.stringMatching(/^The stream has sent no records yet.*list_stacks/)
  expect(waited).toEqual({ view, changes: [], timed_out: true, hint })
})

test("a wait for a change that ends while the stream can't be reached doesn't look like a quiet stream", async () => {
  serving((socket) => sendSnapshot(socket, []))
  const mcp = await startMcp(await tool.file(), env)
  const asked = { stack: "transfers", timeout_seconds: 1 }
  const quiet = await mcp.call("wait_for_change", asked)
  expect(quiet).toEqual({ view, changes: [], next: expect.any(String), timed_out: true })
  serving(() => {})
  for (const socket of stream.clients) socket.terminate()
  const hint = expect.stringMatching(/^The stream isn't connected .*next as after.*list_stacks/)
  expect(await mcp.call("wait_for_change", { ...asked, after: quiet["next"] })).toEqual({ ...quiet, hint })
  await mcp.close()
})

test("a change whose record is larger than a result comes without it, and says how to read it", async () => {
  serving((socket) => sendSnapshot(socket, []))
  const mcp = await startMcp(await tool.file(), env)
  const { next } = await mcp.call("wait_for_change", { stack: "transfers", timeout_seconds: 1 })
  const data = { text: "x".repeat(40_000) }
  for (const socket of stream.clients) socket.send(JSON.stringify({ op: "upsert", entity: view, key: "a", data }))
  expect(await mcp.call("wait_for_change", { stack: "transfers", after: next })).toEqual({
    view,
    changes: [{ op: "upsert", key: "a" }],
    next: expect.any(String),
    hint: expect.stringMatching(/is left out: call read_view with its key, and fields/),
  })
  await mcp.close()
})

test("svc watch writes the next change once the last one has been taken", async () => {
  serving((socket) => {
    sendSnapshot(socket, [{ key: "a", data: {} }])
    for (let n = 1; n < 4; n++) socket.send(JSON.stringify({ op: "upsert", entity: view, key: "a", data: { n } }))
  })
  const taken: number[] = []
  const onTake = (stdout: string) => taken.push(stdout.split("\n").length - 1)
  expect(await tool.svc(["watch", "transfers"], { env, until: '"n":3', onTake })).toMatchObject({ code: 0 })
  // At the end the process waits once more.
  expect(taken).toEqual([1, 2, 3, 4, 4])
})

test("svc mcp keeps fewer changes of a view if they are large", async () => {
  const record = { text: "x".repeat(2 ** 20) }
  const flood = Promise.withResolvers<void>()
  const watch: Stream["watch"] = async function* (_, options) {
    options?.onState?.({ kind: "live" })
    const records = new Map()
    yield { records, change: { op: "snapshot" } }
    await flood.promise
    for (let n = 0; n < 40; n++) yield { records, change: { op: "upsert", key: "a", record: record as never } }
    await once(options?.signal ?? new AbortController().signal, "abort")
  }
  const following = createFollowing()
  const opened = { stackName: "a", websocketUrl: "ws://a", view, schema, stream: { watch } }
  const followed = following.follow(opened as never, undefined)
  const { signal } = new AbortController()
  const changes = (cursor = "") => followed.changes(cursor, () => true, signal)
  const start = (await followed.now(signal))?.next
  flood.resolve()
  let { next, seen } = await changes(start)
  while (!next.endsWith(".40")) ({ next, seen } = await changes(next))
  expect(seen.length).toBeGreaterThan(0)
  await expect(changes(start)).rejects.toMatchObject({ code: "invalid-cursor" })
  following.close()
})

test("svc watch continues with the key that has replaced its own in the credentials file", async () => {
  const keys = ["svc_ak_first", "svc_ak_second"]
  const folder = join(tool.home, "svc")
  await mkdir(folder, { recursive: true })
  const api = await serve(({ target, headers }) =>
    headers.authorization === `Bearer ${keys[0]}`
      ? { body: target === "/ws/sessions" ? { token: "any" } : { name: "transfers", websocket_url, schema } }
      : { status: 401, body: { error: "The key has expired.", code: "expired-api-key" } },
  )
  const store = () => writeFile(join(folder, "credentials.json"), JSON.stringify({ [api.url]: { api_key: keys[0] } }))
  await store()
  serving((socket) => {
    sendSnapshot(socket, [{ key: `left ${keys.length}`, data: {} }])
    if (keys.length < 2) return
    keys.shift()
    const code = "token-expired"
    const error = { type: "error", error: code, message: "It has expired.", code, retryable: true, fatal: true }
    const end = async () => {
      await store()
      socket.send(JSON.stringify(error))
      socket.close(1008)
    }
    void end()
  })
  const own = { SVC_API_URL: api.url, XDG_CONFIG_HOME: tool.home }
  expect(await tool.svc(["watch", "transfers"], { env: own, until: '"left 1"' })).toMatchObject({ code: 0 })
})

test("svc watch --once fails if no snapshot comes in the time of --for: the view isn't empty", async () => {
  serving(() => {})
  const ended = await tool.svc(["watch", "transfers", "--once", "--for", "1", "--json"], { env })
  expectError(
    ended,
    "unreachable",
    "The stream of transfers sent no records of Wallet/list within 1 s. Next: svc stream check",
  )
})
