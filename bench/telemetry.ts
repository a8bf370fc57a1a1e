// Measures what telemetry costs each service, on against off, in turns, both with limits in a store; and the memory with both.
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { compareLoads, createBenchmarkTable, load, type LoadTarget, median, processorTime } from "@svc/testing"
import { z } from "zod"
import { openGround, type Replica, residentMb, transfersUrl } from "./services.ts"

const options = { connections: 32, seconds: Number(process.env["SVC_BENCH_SECONDS"] ?? 2) }
// Two processes of the same code differ by up to a tenth for as long as they live: no one pair tells.
const pairs = 3
// V8 compiles for some ten seconds of full load what a request runs through; until then each takes up to twice its time.
const warmUp = { ...options, seconds: Number(process.env["SVC_BENCH_WARM_UP_SECONDS"] ?? 12) }
const json = { "content-type": "application/json" }

// A collector that takes all and keeps nothing.
let received = 0
const collector = createServer((request, response) => {
  received++
  request.resume().on("end", () => response.writeHead(200, json).end("{}"))
}).listen(0, "127.0.0.1")
await new Promise((resolve) => collector.once("listening", resolve))
const telemetry = {
  SVC_OTEL_ENABLED: "true",
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
  OTEL_METRIC_EXPORT_INTERVAL: "5000",
  OTEL_METRIC_EXPORT_TIMEOUT: "5000",
}

const ground = await openGround()
const table = createBenchmarkTable()
type Start = (env?: Readonly<Record<string, string>>) => Promise<Replica>

/** Loads one with telemetry and one without in turns. */
const comparePair = async (start: Start, target: (url: string) => LoadTarget) => {
  const [on, off] = [await start(telemetry), await start()]
  const spent = new Map<Replica, number[]>([on, off].map((one) => [one, []]))
  const under = async (one: Replica) => {
    const before = processorTime(one.child.pid)
    const result = await load(target(one.url), options)
    spent.get(one)?.push((processorTime(one.child.pid) - before) / (result.perSecond * options.seconds))
    return result
  }
  for (const one of [on, off]) await load(target(one.url), warmUp)
  const { ours, bare, ratio } = await compareLoads(
    () => under(on),
    () => under(off),
  )
  const residentAfter = residentMb(on.child.pid)
  for (const { child } of [on, off]) child.kill("SIGKILL")
  // The first round is warm-up.
  const costOf = (one: Replica): number => median(spent.get(one)?.slice(1) ?? [])
  return {
    on: ours.perSecond,
    off: bare.perSecond,
    ratio: ratio.perSecond,
    cost: costOf(on),
    least: costOf(off),
    residentAfter,
  }
}

const compare = async (name: string, start: Start, target: (url: string) => LoadTarget): Promise<void> => {
  const found: Awaited<ReturnType<typeof comparePair>>[] = []
  for (let pair = 0; pair < pairs; pair++) found.push(await comparePair(start, target))
  const middle = (of: (pair: (typeof found)[number]) => number): number => median(found.map(of))
  const rates = `${Math.round(middle(({ on }) => on))} a second to ${Math.round(middle(({ off }) => off))}`
  table.add(
    `${name}: telemetry on to off, ${rates}`,
    middle(({ ratio }) => ratio),
    "x",
    { atLeast: 0.9 },
  )
  // Steadier where others use the machine.
  const times = `${Math.round(middle(({ cost }) => cost))} µs a request to ${Math.round(middle(({ least }) => least))}`
  table.add(
    `${name}: the same for the same processor time, ${times}`,
    middle(({ cost, least }) => least / cost),
    "x",
  )
  const resident = Math.max(...found.map(({ residentAfter }) => residentAfter))
  table.add(`${name}: resident memory with it, after the load, at most`, resident, "MB", { atMost: 200 })
}

const platform = await ground.platform()
await ground.publishTransfers()
const post = async (path: string, body: object, key?: string): Promise<unknown> => {
  const headers = { ...json, ...(key !== undefined && { authorization: `Bearer ${key}` }) }
  const answer = await fetch(platform.url + path, { method: "POST", headers, body: JSON.stringify(body) })
  return answer.json()
}
const keys: string[] = []
for (let i = 0; i < options.connections; i++) {
  keys.push(z.object({ api_key: z.string() }).parse(await post("/api/agents/signup", {})).api_key)
}
const session = { websocket_url: transfersUrl, scope: "transaction:inspect" }
const { token } = z.object({ token: z.string() }).parse(await post("/ws/sessions", session, keys[0]))

await compare(
  "relay",
  (env) => ground.relay(platform.url, env),
  (url) => ({
    url: `${url}/transactions/v1/latest-blockhash`,
    body: "{}",
    headers: { authorization: `Bearer ${token}` },
  }),
)
await compare("platform-api", ground.platform, (url) => ({
  url: `${url}/api/agents/me`,
  headers: keys.map((key) => ({ authorization: `Bearer ${key}` })),
}))
const search = { name: "search_docs", arguments: { query: "rate limits" } }
await compare("docs-server", ground.docs, (url) => ({
  url: `${url}/mcp`,
  headers: { accept: "application/json, text/event-stream" },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: search }),
}))
if (received === 0) throw new Error("nothing was exported: telemetry was not on")

await ground.stop()
collector.close()
console.log(table.text())
if (!table.met()) process.exitCode = 1
process.exit()
