// `pnpm bench docs`: the documentation server against a peer with the same duties, and against a bare Hono route that returns as many
// bytes.
import { createBenchmarkTable, type Goal } from "@svc/testing"
import { compare, compareTelemetry, finish } from "./compare.ts"
import { openGround, residentMb } from "./ground.ts"

const ground = await openGround()
const table = createBenchmarkTable()
const search = (query: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "search_docs", arguments: { query } } })

type Row = readonly [
  name: string,
  /** For the peer; undefined if it has no such request. */
  goal: Goal | undefined,
  request: {
    readonly path?: string
    readonly headers?: Record<string, string>
    readonly body?: string | (() => string)
  },
]
let asked = 0
const rows: readonly Row[] = [
  ["tools/list", { atLeast: 8 }, { body: '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}' }],
  ["search_docs, repeating", { atLeast: 12 }, { body: search("rate limit") }],
  ["search_docs, never repeating", { atLeast: 2 }, { body: () => search(`limit of streams ${++asked}`) }],
  ["GET /mcp", undefined, {}],
  ["a page as Markdown", undefined, { path: "/keys.md" }],
  ["the same page as HTML", undefined, { path: "/keys", headers: { accept: "text/html" } }],
]

const server = await ground.docs()
table.add("start", server.startMs, "ms", { atMost: 1500 })
table.add("resident memory, idle", residentMb(server.child.pid), "MB", { atMost: 200 })
const peer = await ground.peer("docs-server", "../../bench/docs-peer.ts")
const bare = await ground.peer("docs-server", "bench/bare.ts")
for (const [name, goal, { path = "/mcp", headers = {}, body }] of rows) {
  const given = { headers, ...(body !== undefined && { body }) }
  const text = typeof body === "function" ? body() : body
  const json = { "content-type": "application/json" }
  const one = text === undefined ? { headers } : { method: "POST", headers: json, body: text }
  const size = (await (await fetch(server.url + path, one)).arrayBuffer()).byteLength
  const ours = { url: server.url + path, pid: server.child.pid, ...given }
  const accept = { accept: "application/json, text/event-stream" }
  const same = { ...peer, url: peer.url + path, ...given, headers: { ...headers, ...accept } }
  if (goal !== undefined) await compare(table, `${name}, to the peer`, goal, ours, same)
  await compare(table, `${name}, to a bare route`, undefined, ours, { ...bare, url: `${bare.url}/${size}`, ...given })
}
await compareTelemetry(table, ground.docs, ({ url, child }) => ({
  url: `${url}/mcp`,
  pid: child.pid,
  body: search("rate limit"),
}))
await ground.stop()
finish(table)
