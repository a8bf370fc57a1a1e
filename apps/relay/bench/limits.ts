// Measures what limits in a store cost the relay, against the same relay that counts for itself, in turns. Not only how
// many requests a second but how much of the processor each took, which is steadier where others use the machine.
import { Agent, request } from "node:http"
import {
  compareLoads,
  createBenchmarkTable,
  type Load,
  load,
  median,
  processorTime,
  redisProgram,
  startRedis,
} from "@svc/testing"
import { headers, options, provider, startRelay } from "./parts.ts"

if (redisProgram() === undefined) {
  console.error("neither valkey-server nor redis-server is on this machine")
  process.exit(1)
}
const redis = await startRedis()
// More places than a load has connections, twice: those of the load before are given back behind it.
const places = { SVC_TRANSACTION_INSPECT_CONCURRENCY: "256" }
const local = await startRelay(places)
const shared = await startRelay({ ...places, SVC_LIMITS_URL: redis.url })
const table = createBenchmarkTable()

const spent = new Map<string, { time: number; requests: number }>()
/** A load, with the processor time of some processes counted under a name. */
const counted = async (name: string, pids: readonly number[], url: string): Promise<Load> => {
  const sum = (): number => pids.reduce((total, pid) => total + processorTime(pid), 0)
  const before = sum()
  const result = await load({ url: `${url}/latest-blockhash`, body: "{}", headers }, options)
  const known = spent.get(name) ?? { time: 0, requests: 0 }
  known.time += sum() - before
  known.requests += result.perSecond * options.seconds
  spent.set(name, known)
  return result
}

const { ours, bare, ratio } = await compareLoads(
  () => counted("shared", [shared.child.pid, redis.pid()], shared.url),
  () => counted("local", [local.child.pid], local.url),
)
const rates = [ours, bare].map(({ perSecond }) => Math.round(perSecond))
table.add(`limits in a store: throughput, ${rates.join(" a second to ")}`, ratio.perSecond, "x", { atLeast: 0.8 })
for (const [name, { time, requests }] of spent) table.add(`${name}: processor time a request`, time / requests, "µs")
table.add("the store's part of it", processorTime(redis.pid()) / (spent.get("shared")?.requests ?? 0), "µs")

// One request after another, so that it is the wait for the store that is measured and not the queue for the processor.
const agent = new Agent({ keepAlive: true })
const once = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const from = performance.now()
    const type = { "content-type": "application/json" }
    const sent = request(`${url}/latest-blockhash`, { method: "POST", agent, headers: { ...type, ...headers } })
    sent.on("error", reject).on("response", (answer) => {
      answer.resume().on("end", () => resolve(performance.now() - from))
    })
    sent.end("{}")
  })
const times: { shared: number[]; local: number[] } = { shared: [], local: [] }
for (let i = 0; i < 2000; i++) {
  times.shared.push(await once(shared.url))
  times.local.push(await once(local.url))
}
table.add("limits in a store: p50 more, one connection", median(times.shared) - median(times.local), "ms", {
  atMost: 1,
})

for (const { child } of [local, shared]) child.kill("SIGKILL")
provider.kill("SIGKILL")
await redis.stop()
console.log(table.text())
if (!table.met()) process.exitCode = 1
process.exit()
