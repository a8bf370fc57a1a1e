// `pnpm bench attacks [seconds]`: what honest clients wait for while everything that ever brought a service down runs against
// all three at once, from as many addresses as the attacker likes. Each process has the heap of a container of 512 MiB.
import { randomBytes } from "node:crypto"
import { connect } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads"
import { gzipSync } from "node:zlib"
import { mintKey } from "@svc/keys"
import { createBenchmarkTable } from "@svc/testing"
import { z } from "zod"
import { entity, field, smallAst } from "../apps/platform-api/test/registry/small-ast.ts"
import { publishStack } from "../test/publish-stack.ts"
import { openGround, type Replica, residentMb } from "./ground.ts"

const urls = z.object({ platform: z.string(), docs: z.string(), relay: z.string(), key: z.string(), specId: z.int() })
type Targets = z.output<typeof urls>

/** Another client each time: a /64 of its own behind the trusted proxy. */
const newAddress = (): string => `2001:db8:${randomBytes(2).toString("hex")}:${randomBytes(2).toString("hex")}::1`

type Asked = {
  readonly key?: string
  readonly body?: unknown
  readonly packed?: Uint8Array<ArrayBuffer>
  readonly from?: string
}

const ask = (method: string, url: string, { key, body, packed, from = newAddress() }: Asked = {}): Promise<Response> =>
  fetch(url, {
    method,
    headers: {
      accept: "application/json, text/event-stream",
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
}
const largeAst = astOf(times(5000, (n) => field(`f${n}`, `(${times(20, () => "i32").join(", ")})`)))

/** Sends bytes on many connections and reads nothing; begins again every few seconds. */
const neverRead = async (url: string, connections: number, bytes: string): Promise<void> => {
  const { port } = new URL(url)
  const sockets = times(connections, () => {
    const socket = connect(Number(port), "127.0.0.1").on("error", () => {})
    socket.write(bytes)
    return socket
  })
  await delay(5000)
  for (const socket of sockets) socket.destroy()
}
const get = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${newAddress()}\r\n\r\n`

const attacksOn = ({
  platform,
  docs,
  relay,
  key,
  specId,
}: Targets): Readonly<Record<string, () => Promise<unknown>>> => {
  const tool = (name: string, given: object) => ({
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } },
  })
  const initialize = (icons: number) => ({
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "a", version: "1", icons: times(icons, () => 0) },
      },
    },
  })
  const unfinished = `POST /api/agents/signup HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n${" ".repeat(50_000)}`
  const word = (): string => randomBytes(5).toString("hex")
  return {
    ...Object.fromEntries(
      Object.entries(hostileAsts).map(([name, ast_payload]) => {
        const packed = Uint8Array.from(gzipSync(JSON.stringify({ name: "attack", ast_payload })))
        return [`upload: ${name}`, () => ask("POST", `${platform}/api/specs`, { key, packed })]
      }),
    ),
    build: () => ask("POST", `${platform}/api/builds`, { key, body: { spec_id: specId } }),
    run: () => ask("POST", `${platform}/api/automation/runs`, { key, body: { workflow: "publish", spec_id: specId } }),
    types: () => ask("GET", `${platform}/api/registry/attack/types?language=json-schema`),
    "all schemas": () => ask("GET", `${platform}/api/registry?include=schema`),
    "missing versions": () => ask("GET", `${platform}/api/registry/attack/versions/${Math.ceil(Math.random() * 1e6)}`),
    "forged keys": () => ask("GET", `${platform}/api/agents/me`, { key: mintKey("ak", randomBytes, randomBytes(32)) }),
    "sign-ups": () => ask("POST", `${platform}/api/agents/signup`),
    "scopes that are numbers": () =>
      ask("POST", `${platform}/ws/sessions`, {
        key,
        body: { websocket_url: "wss://a.example", scopes: times(30_000, () => 0) },
      }),
    "a hundred deletions": () =>
      Promise.all(times(100, () => ask("DELETE", `${platform}/api/agents/me/keys/1`, { key }))),
    "unfinished sign-ups": () => neverRead(platform, 200, unfinished),
    "documents that nobody reads": () => neverRead(platform, 50, get("/openapi.json").repeat(200)),
    "pages that nobody reads": () => neverRead(docs, 50, get("/llms-full.txt").repeat(200)),
    "the relay's document that nobody reads": () => neverRead(relay, 50, get("/openapi.json").repeat(200)),
    "icons in a small body": () => ask("POST", `${docs}/mcp`, initialize(20_000)),
    "icons in a large body": () => ask("POST", `${docs}/mcp`, initialize(500_000)),
    "nonsense searches": () =>
      ask("POST", `${docs}/mcp`, tool("search_docs", { query: times(50, word).join(" ").slice(0, 500) })),
    "bad tokens": () => ask("POST", `${relay}/transactions/v1/block-height`, { key: `e30.e30.${word()}`, body: {} }),
  }
}

const attack = async (targets: Targets): Promise<void> => {
  const over = new AbortController()
  const wrong: Record<string, number> = {}
  const requests: Record<string, number> = {}
  parentPort?.once("message", () => over.abort())
  const loops = Object.entries(attacksOn(targets)).map(async ([name, once]) => {
    while (!over.signal.aborted) {
      const results = await once().then(
        (result) => [result].flat(),
        () => [],
      )
      requests[name] = (requests[name] ?? 0) + 1
      for (const response of results) {
        if (!(response instanceof Response)) continue
        await response.arrayBuffer().catch(() => {})
        const { status, headers } = response
        if (status < 500 || (status === 503 && headers.has("retry-after"))) continue
        wrong[`${name}: ${status}`] = (wrong[`${name}: ${status}`] ?? 0) + 1
      }
    }
  })
  await Promise.all(loops)
  parentPort?.postMessage({ wrong, requests })
}

const told = z.object({ wrong: z.record(z.string(), z.int()), requests: z.record(z.string(), z.int()) })

const measure = async (seconds: number): Promise<boolean> => {
  const ground = await openGround()
  // The limits are those that operators get.
  const defaults = {
    SVC_TRUSTED_PROXY_CIDRS: "127.0.0.1/32",
    SVC_REGISTRY_REQUESTS_PER_MINUTE: "300",
    SVC_REGISTRY_KEYED_REQUESTS_PER_MINUTE: "1200",
    SVC_SIGNUPS_PER_HOUR: "5",
  }
  const platform = await ground.platform(defaults)
  await ground.publishTransfers()
  const relay = await ground.relay(platform.url, { SVC_TRUSTED_PROXY_CIDRS: "127.0.0.1/32" })
  const docs = await ground.docs({ SVC_TRUSTED_PROXY_CIDRS: "127.0.0.1/32" })
  const { key, specId } = await publishStack(platform.url, ground.platformSettings, "attack")
  const ast_payload = largeAst
  const larger = await ask("PUT", `${platform.url}/api/specs/${specId}`, {
    key,
    packed: Uint8Array.from(gzipSync(JSON.stringify({ ast_payload }))),
  })
  console.log(`the attacker's stack: ${larger.status}`)
  const attacker = new Worker(new URL(import.meta.url), {
    workerData: { platform: platform.url, docs: docs.url, relay: relay.url, key, specId } satisfies Targets,
  })
  const done = new Promise<unknown>((resolve, reject) => attacker.once("message", resolve).once("error", reject))

  const { api_key } = z
    .object({ api_key: z.string() })
    .parse(await (await ask("POST", `${platform.url}/api/agents/signup`)).json())
  const waits = new Map<string, number[]>()
  const refused = new Map<string, number>()
  let most = new Map<Replica, number>()
  const until = performance.now() + seconds * 1000
  const honest = async (name: string, expected: number, once: () => Promise<Response>): Promise<void> => {
    const own: number[] = []
    waits.set(name, own)
    while (performance.now() < until) {
      const began = performance.now()
      const answer = await once().then(
        async (response) => {
          await response.arrayBuffer()
          return response.status
        },
        // fetch itself says no more than that it failed.
        (error: unknown) => String(error instanceof TypeError ? (error.cause ?? error) : error),
      )
      own.push(performance.now() - began)
      if (answer !== expected) refused.set(`${name}: ${answer}`, (refused.get(`${name}: ${answer}`) ?? 0) + 1)
      await delay(20)
    }
  }
  const watch = async (): Promise<void> => {
    while (performance.now() < until) {
      most = new Map(
        [platform, docs, relay].map((one) => [one, Math.max(most.get(one) ?? 0, residentMb(one.child.pid))]),
      )
      await delay(100)
    }
  }
  const session = { websocket_url: "wss://streams.example.com/transfers", scope: "transaction:inspect" }
  const minted = await ask("POST", `${platform.url}/ws/sessions`, { key: api_key, body: session })
  const { token } = z.object({ token: z.string() }).parse(await minted.json())
  const search = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "search_docs", arguments: { query: "rate limits" } },
  }
  await Promise.all([
    watch(),
    honest("platform: profile", 200, () => ask("GET", `${platform.url}/api/agents/me`, { key: api_key })),
    honest("platform: a stack's schema", 200, () => ask("GET", `${platform.url}/api/registry/transfers/schema`)),
    honest("platform: sign-up", 201, () => ask("POST", `${platform.url}/api/agents/signup`)),
    honest("docs: a page", 200, () => ask("GET", `${docs.url}/relay`)),
    honest("docs: search", 200, () => ask("POST", `${docs.url}/mcp`, { body: search })),
    honest("relay: blockhash", 200, () =>
      ask("POST", `${relay.url}/transactions/v1/latest-blockhash`, { key: token, body: {} }),
    ),
  ])
  attacker.postMessage("over")
  const { wrong, requests } = told.parse(await done)
  await attacker.terminate()
  await ground.stop()

  const table = createBenchmarkTable()
  for (const [name, own] of waits) {
    own.sort((a, b) => a - b)
    const at = (share: number) => own[Math.floor(own.length * share)] ?? Number.NaN
    table.add(
      `${name} (${own.length}, p50 ${at(0.5).toFixed(0)} ms, most ${own.at(-1)?.toFixed(0)} ms): p99`,
      at(0.99),
      "ms",
      { atMost: 250 },
    )
  }
  for (const [{ name }, megabytes] of most) table.add(`${name}: most resident memory`, megabytes, "MB", { atMost: 512 })
  table.add(
    "honest requests that were not answered as asked",
    [...refused.values()].reduce((sum, n) => sum + n, 0),
    "",
    { atMost: 0 },
  )
  table.add(
    "hostile requests with a 5xx but 503 with Retry-After",
    Object.values(wrong).reduce((sum, n) => sum + n, 0),
    "",
    { atMost: 0 },
  )
  console.log(table.text())
  for (const [line, count] of [...refused, ...Object.entries(wrong)]) console.log(`${count}× ${line}`)
  console.log(
    `hostile requests: ${Object.entries(requests)
      .map(([name, count]) => `${name} ${count}`)
      .join(", ")}`,
  )
  return table.met()
}

if (isMainThread)
  process.exitCode = (await measure(z.coerce.number().positive().default(60).parse(process.argv[2]))) ? 0 : 1
else await attack(urls.parse(workerData))
