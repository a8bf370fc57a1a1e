// What ever brought a service down, by the resource that it fills and by whoever does it.
import { randomBytes } from "node:crypto"
import { connect, type Socket } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import { gzipSync } from "node:zlib"
import { mintKey } from "@svc/keys"
import { entity, field, smallAst } from "../apps/platform-api/test/registry/small-ast.ts"

export const attackers = ["one address", "many addresses without a key", "nine new agents"] as const
export type Attacker = (typeof attackers)[number]

/** URLs of services that trust a proxy at 127.0.0.1, keys of agents, and the name of a public stack that is as large as one can be. */
export type Targets = Readonly<Record<"platform" | "docs" | "relay" | "stack", string>> & {
  readonly agents: readonly string[]
}

type Asked = {
  readonly key?: string | undefined
  readonly body?: unknown
  readonly packed?: Uint8Array<ArrayBuffer>
  readonly from?: string
}

/** Another client each time: a /64 of its own behind the trusted proxy. */
const newAddress = (): string => `2001:db8:${randomBytes(2).toString("hex")}:${randomBytes(2).toString("hex")}::1`

export const ask = (
  method: string,
  url: string,
  { key, body, packed, from = newAddress() }: Asked = {},
): Promise<Response> =>
  fetch(url, {
    method,
    headers: {
      accept: "application/json, text/event-stream",
      // A server may close what is idle.
      connection: "close",
      "x-forwarded-for": from,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...((body !== undefined || packed !== undefined) && { "content-type": "application/json" }),
      ...(packed !== undefined && { "content-encoding": "gzip" }),
    },
    body: packed ?? (body === undefined ? null : JSON.stringify(body)),
    signal: AbortSignal.timeout(60_000),
  })

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
const astOf = (fields: readonly unknown[], { idls = [] as unknown[], section = "root" } = {}) =>
  smallAst({ idls, entities: [entity("Thing", { sections: [{ name: section, fields }] })] })
const struct = (name: string) => ({ name, type: { kind: "struct", fields: [{ name: "a", type: "u8" }] } })

const hostileAsts = {
  "an element for each fault": astOf(times(200_000, () => 0)),
  "a fault for each element": astOf(times(100_000, () => ({}))),
  "names times IDLs": astOf(
    times(460, (n) => field(`f${n}`, times(500, () => "a").join(","))),
    { idls: times(10_000, () => ({ name: "b" })) },
  ),
  "types times IDLs": astOf(
    times(8000, (n) => field(`f${n}`, `T${n}`)),
    { idls: [...times(20_000, () => ({ name: "p" })), { name: "p", types: times(8000, (n) => struct(`T${n}`)) }] },
  ),
  "a schema larger than its AST": astOf(
    times(12_000, (n) => field(`f${n}`, "u8")),
    { section: "ж".repeat(250) },
  ),
  "long types, deeply nested": astOf(
    times(2000, (n) => field(`f${n}`, `${"Vec<".repeat(32)}${"u8,".repeat(300)}u8${">".repeat(32)}`)),
  ),
}
const pack = (value: unknown) => Uint8Array.from(gzipSync(JSON.stringify(value)))
const hostileBodies = Object.values(hostileAsts).map((ast_payload) => pack({ ast_payload }))
/** The largest types for the smallest AST, as a version. */
export const largeVersion = (type: string): Uint8Array<ArrayBuffer> =>
  pack({ ast_payload: astOf(times(5000, (n) => field(`f${n}`, `(${times(20, () => type).join(", ")})`))) })

/** Another version each time, which is read as large ones are, in no time. */
export const smallVersion = (): Uint8Array<ArrayBuffer> =>
  pack({ ast_payload: astOf(times(100, (n) => field(`f${n}`, `T${word()}`))) })

/** An IPv4 address of this machine's, but none that is a trusted proxy. */
const localAddress = (index: number): string => `127.1.${index >> 8}.${index & 255}`

type Connections = {
  readonly url: string
  readonly count: number
  readonly bytes: string
  /** How many addresses they come from. */
  readonly addresses: number
  /** Whether what comes back is read. */
  readonly read: boolean
}

/** Sends bytes on many connections, which stay open for so long. */
const occupy = async (ms: number, { url, count, bytes, addresses, read }: Connections): Promise<void> => {
  const sockets: Socket[] = []
  const port = Number(new URL(url).port)
  while (sockets.length < count) {
    // The kernel may try for two minutes to connect one whose first packets were dropped.
    const signal = AbortSignal.timeout(60_000 + ms)
    const next = times(Math.min(50, count - sockets.length), (n): Socket => {
      const address = localAddress((sockets.length + n) % addresses)
      const socket = connect({ port, host: "127.0.0.1", localAddress: address, signal }).on("error", () => {})
      if (read) socket.resume()
      socket.write(bytes)
      return socket
    })
    sockets.push(...next)
    await Promise.all(
      next.map((socket) => new Promise((resolve) => socket.once("connect", resolve).once("close", resolve))),
    )
  }
  await delay(ms)
  for (const socket of sockets) socket.destroy()
}

type Headers = Readonly<Record<string, string>>
/** A request's head. @param body its length, or `chunked` */
const head = (method: string, path: string, body: number | "chunked" = 0, headers: Headers = {}): string => {
  const framing = body === "chunked" ? { "Transfer-Encoding": body } : body > 0 ? { "Content-Length": `${body}` } : {}
  const all = { Host: "localhost", "Content-Type": "application/json", ...headers, ...framing }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`
}
const events = { Accept: "text/event-stream" }
const oneByteChunks = "1\r\n[\r\n".repeat(50_000)

/** A request of the tool, or whatever an MCP client sends first. */
const message = (method: string, params: object) => ({ body: { jsonrpc: "2.0", id: 1, method, params } })
const initialize = (icons: number) =>
  message("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "a", version: "1", icons: times(icons, () => 0) },
  })
const word = (): string => randomBytes(5).toString("hex")
const search = () =>
  message("tools/call", { name: "search_docs", arguments: { query: times(50, word).join(" ").slice(0, 500) } })

export type Attack = () => Promise<unknown>
type Attacks = Readonly<Record<Attacker, readonly Attack[]>>

/**
 * Attacks on each resource of docs/decisions/resources.md.
 * @param most how many connections or streams an attack opens
 * @param ms how long connections stay open
 */
export const attacksOn = (targets: Targets, { most, ms }: { readonly most: number; readonly ms: number }) => {
  const { platform, docs, relay, stack, agents } = targets
  const all = [platform, docs, relay]
  const registry = `${platform}/api/registry`
  const agent = (n: number): { readonly key: string } => ({ key: agents[n % agents.length] ?? "" })

  const occupied =
    (urls: readonly string[], count: number, bytes: string, read = false) =>
    (addresses: number): readonly Attack[] =>
      urls.map((url) => () => occupy(ms, { url, count, addresses: Math.min(addresses, count), bytes, read }))
  /** By each agent. */
  const keyed = (count: number, bytes: (headers: Headers) => string, read = false): readonly Attack[] =>
    agents.flatMap((key) => occupied([platform], count, bytes({ Authorization: `Bearer ${key}` }), read)(1))
  /** The same from one address, and from ever new ones; and what agents do. */
  const attacks = (
    on: readonly ((addresses: number) => readonly Attack[])[],
    calls: (from: { readonly from?: string }) => readonly Attack[],
    byAgents: readonly Attack[],
  ): Attacks => ({
    "one address": [...on.flatMap((make) => make(1)), ...calls({ from: "192.0.2.1" })],
    "many addresses without a key": [...on.flatMap((make) => make(65_536)), ...calls({})],
    "nine new agents": byAgents,
  })

  const changes = "/api/registry/changes"
  const largeHead = { "X-Head": "h".repeat(9000) }
  const simulate = JSON.stringify({ transaction: Buffer.alloc(200, 1).toString("base64") })
  return {
    connections: attacks(
      [occupied(all, most, head("POST", "/mcp", 100))],
      () => [],
      keyed(most >> 3, (key) => head("POST", "/api/agents/me/keys", 10, key)),
    ),
    "event streams": attacks(
      [
        occupied([platform], most, head("GET", changes, 0, events), true),
        occupied([docs], most, head("GET", "/mcp", 0, events), true),
        occupied([platform, docs], 100, head("GET", changes, 100_000, events) + "b".repeat(99_999)),
      ],
      () => [],
      keyed(30, (key) => head("GET", changes, 0, { ...events, ...key }), true),
    ),
    "request bodies": attacks(
      [
        occupied([docs], 40, head("POST", "/mcp", "chunked") + oneByteChunks),
        occupied([platform], 200, head("POST", "/api/agents/signup", 60_000) + " ".repeat(50_000)),
      ],
      () => [],
      [
        ...keyed(4, (key) => head("POST", "/api/specs", "chunked", key) + oneByteChunks),
        ...keyed(4, (key) => head("POST", "/api/specs", 2_000_000, key) + " ".repeat(1_900_000)),
      ],
    ),
    "unread responses": attacks(
      [
        occupied([docs], 50, head("GET", "/llms-full.txt").repeat(1000)),
        occupied([docs], 30, head("GET", "/llms-full.txt", 0, largeHead).repeat(400)),
        occupied([platform, relay], 50, head("GET", "/openapi.json").repeat(200)),
        occupied([relay], 9, (head("POST", "/transactions/v1/simulate", simulate.length) + simulate).repeat(16)),
      ],
      () => [],
      keyed(6, (key) => head("GET", "/api/registry?include=schema", 0, key).repeat(16)),
    ),
    "events of one read": attacks(
      [occupied(all, 200, head("GET", "/nowhere").repeat(16)), occupied(all, 20, head("GET", "/nowhere").repeat(1000))],
      () => [],
      keyed(20, (key) => head("GET", "/api/agents/me", 0, key).repeat(16)),
    ),
    "the compiler's thread": attacks(
      [],
      (from) => [
        ...times(4, () => () => ask("GET", `${registry}/${stack}/types?language=json-schema`, from)),
        ...times(4, () => () => ask("GET", `${registry}/${stack}/diff?from=1&to=2`, from)),
        () => ask("GET", `${registry}?include=schema`, from),
      ],
      times(18, (n) => () => {
        const packed = hostileBodies[n % hostileBodies.length] ?? new Uint8Array()
        return ask("POST", `${registry}/${stack}/check`, { ...agent(n), packed })
      }),
    ),
    "database sessions": attacks(
      [],
      (from) => [
        ...times(4, () => () => ask("POST", `${platform}/api/agents/signup`, from)),
        ...times(4, () => () => ask("GET", `${registry}/${stack}/versions/${Math.ceil(Math.random() * 1e6)}`, from)),
        ...times(4, () => () => {
          const key = mintKey("ak", randomBytes, randomBytes(32))
          return ask("GET", `${platform}/api/agents/me`, { ...from, key })
        }),
      ],
      times(
        90,
        (n) => () =>
          n % 2 === 0
            ? ask("DELETE", `${platform}/api/agents/me/keys/1`, agent(n))
            : ask("POST", `${platform}/api/agents/me/keys`, { ...agent(n), body: {} }),
      ),
    ),
    "memory of a parse": attacks(
      [],
      (from) => [
        () => ask("POST", `${docs}/mcp`, { ...from, ...initialize(20_000) }),
        () => ask("POST", `${docs}/mcp`, { ...from, ...initialize(500_000) }),
        () => ask("POST", `${docs}/mcp`, { ...from, ...search() }),
        () => ask("POST", `${relay}/transactions/v1/block-height`, { ...from, key: `e30.e30.${word()}`, body: {} }),
      ],
      [
        ...times(9, (n) => () => {
          const body = { websocket_url: "wss://a.example", scopes: times(30_000, () => 0) }
          return ask("POST", `${platform}/ws/sessions`, { ...agent(n), body })
        }),
        ...hostileBodies.map((packed, n) => () => ask("POST", `${registry}/${stack}/check`, { ...agent(n), packed })),
      ],
    ),
  } satisfies Readonly<Record<string, Attacks>>
}

export type Resource = keyof ReturnType<typeof attacksOn>

/**
 * Reads a response to its end. @returns whether the database was late, as on a busy machine: nothing was changed, or nobody knows
 * whether it was
 */
export const wasLate = async (response: Response): Promise<boolean> => {
  const text = await response.text()
  return response.status === 503 && (response.headers.has("retry-after") || text.includes('"outcome-unknown"'))
}
