// Measures what telemetry costs each service, on against off, in turns, both with limits in a store; and the memory with both.
import { createBenchmarkTable, loadInTurns, type LoadTarget, mean, type Share, type TurnOptions } from "@svc/testing"
import { z } from "zod"
import { openGround, type Replica, residentMb, startCollector, transfersUrl } from "./services.ts"

const connections = 32
// V8 compiles for some ten seconds of full load what a request runs through; until then each takes up to twice its time.
const warmUp = { connections, turns: Number(process.env["SVC_BENCH_WARM_UP_SECONDS"] ?? 12), milliseconds: 1000 }
const options = { connections, turns: 8 * Number(process.env["SVC_BENCH_SECONDS"] ?? 15), milliseconds: 125 }
// Two processes of the same code differ by up to a tenth for as long as they live: no one pair tells.
const pairs = 4

const collector = await startCollector()
const ground = await openGround()
const table = createBenchmarkTable()

type TargetOf = (url: string) => LoadTarget
type Start = (env?: Readonly<Record<string, string>>) => Promise<Replica>

/** Loads processes with telemetry and as many without in turns. */
const compare = async (name: string, start: Start, targetOf: () => TargetOf | Promise<TargetOf>): Promise<void> => {
  const all: { readonly on: boolean; readonly replica: Replica }[] = []
  for (let pair = 0; pair < pairs; pair++) {
    all.push({ on: true, replica: await start(collector.settings) }, { on: false, replica: await start() })
  }
  const underLoad = async (how: TurnOptions) => {
    const target = await targetOf()
    const served = all.map(({ on, replica: { url, child } }) => ({ on, target: target(url), pid: child.pid }))
    return loadInTurns(served, how)
  }
  await underLoad(warmUp)
  const shares = await underLoad(options)
  const resident = Math.max(...shares.map(({ server: { on, pid } }) => (on ? residentMb(pid) : 0)))
  for (const { replica } of all) replica.child.kill("SIGKILL")
  const shareOf = (wanted: boolean): Share => {
    const those = shares.filter(({ server }) => server.on === wanted)
    return { perSecond: mean(those.map(({ perSecond }) => perSecond)), cost: mean(those.map(({ cost }) => cost)) }
  }
  const [on, off] = [shareOf(true), shareOf(false)]
  const rates = `${Math.round(on.perSecond)} a second to ${Math.round(off.perSecond)}`
  table.add(`${name}: telemetry on to off, ${rates}`, on.perSecond / off.perSecond, "x", { atLeast: 0.9 })
  // Steadier where others use the machine.
  const times = `${Math.round(on.cost)} µs a request to ${Math.round(off.cost)}`
  table.add(`${name}: the same for the same processor time, ${times}`, off.cost / on.cost, "x")
  table.add(`${name}: resident memory with it, after the load, at most`, resident, "MB", { atMost: 200 })
}

const platform = await ground.platform()
await ground.publishTransfers()
const post = async (path: string, body: object, key?: string): Promise<unknown> => {
  const headers = { "content-type": "application/json", ...(key !== undefined && { authorization: `Bearer ${key}` }) }
  const answer = await fetch(platform.url + path, { method: "POST", headers, body: JSON.stringify(body) })
  return answer.json()
}
const keys: string[] = []
for (let i = 0; i < connections; i++) {
  keys.push(z.object({ api_key: z.string() }).parse(await post("/api/agents/signup", {})).api_key)
}
const session = { websocket_url: transfersUrl, scope: "transaction:inspect" }
await compare(
  "relay",
  (env) => ground.relay(platform.url, env),
  async () => {
    // Good for five minutes.
    const { token } = z.object({ token: z.string() }).parse(await post("/ws/sessions", session, keys[0]))
    const headers = { authorization: `Bearer ${token}` }
    return (url) => ({ url: `${url}/transactions/v1/latest-blockhash`, body: "{}", headers })
  },
)
await compare("platform-api", ground.platform, () => {
  const headers = keys.map((key) => ({ authorization: `Bearer ${key}` }))
  return (url) => ({ url: `${url}/api/agents/me`, headers })
})
const search = { name: "search_docs", arguments: { query: "rate limits" } }
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: search })
const accept = { accept: "application/json, text/event-stream" }
await compare("docs-server", ground.docs, () => (url) => ({ url: `${url}/mcp`, headers: accept, body }))
if (collector.received() === 0) throw new Error("nothing was exported: telemetry was not on")

await ground.stop()
collector.stop()
console.log(table.text())
if (!table.met()) process.exitCode = 1
process.exit()
