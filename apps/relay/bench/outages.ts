// Measures how much longer a request takes at worst while the limits' store is slow, frozen, full, killed or restarted: beside
// it, at the same moments, the same load goes to a relay that counts for itself.
import { Agent, request } from "node:http"
import { setTimeout as delay } from "node:timers/promises"
import { createBenchmarkTable, redisProgram, startRedis, startSlowPath } from "@svc/testing"
import { headers, options, provider, startRelay } from "./parts.ts"

if (redisProgram() === undefined) {
  console.error("neither valkey-server nor redis-server is on this machine")
  process.exit(1)
}
const redis = await startRedis()
const path = await startSlowPath(redis.port)
const local = await startRelay()
const shared = await startRelay({ SVC_LIMITS_URL: `redis://127.0.0.1:${path.port}` })
const table = createBenchmarkTable()

const agents = new Map([local, shared].map((relay) => [relay, new Agent({ keepAlive: true })]))
const ask = (relay: typeof local): Promise<{ status: number; ms: number }> =>
  new Promise((resolve, reject) => {
    const from = performance.now()
    const type = { "content-type": "application/json" }
    const sent = request(`${relay.url}/latest-blockhash`, {
      method: "POST",
      agent: agents.get(relay),
      headers: { ...type, ...headers },
    })
    sent.on("error", reject).on("response", (answer) => {
      answer.resume().on("end", () => resolve({ status: answer.statusCode ?? 0, ms: performance.now() - from }))
    })
    sent.end("{}")
  })

const isShared = async (): Promise<boolean> => {
  const health = await fetch(`http://127.0.0.1:${shared.port}/health`)
  return ((await health.json()) as { limits?: string }).limits === "shared"
}
const back = async (): Promise<void> => {
  while (!(await isShared())) await delay(50)
}

/** Eight callers of each relay while `harm` is done; gives the slowest of both and what was not a 200. */
const under = async (harm: () => Promise<void>) => {
  const over = new AbortController()
  const slowest = new Map([local, shared].map((relay) => [relay, 0]))
  let failed = 0
  let answered = 0
  const loop = async (relay: typeof local): Promise<void> => {
    while (!over.signal.aborted) {
      const { status, ms } = await ask(relay)
      answered++
      if (status !== 200) failed++
      slowest.set(relay, Math.max(slowest.get(relay) ?? 0, ms))
      await delay(2)
    }
  }
  const loops = [local, shared].flatMap((relay) => Array.from({ length: 8 }, () => loop(relay)))
  await delay(300)
  await harm()
  await delay(options.seconds * 1000)
  over.abort()
  await Promise.all(loops)
  return { more: (slowest.get(shared) ?? 0) - (slowest.get(local) ?? 0), failed, answered }
}

const harms: readonly (readonly [name: string, harm: () => Promise<void>, mend: () => Promise<void>])[] = [
  ["well", async () => {}, async () => {}],
  ["20 ms away", async () => void (path.delayMs = 20), async () => void (path.delayMs = 0)],
  ["200 ms away", async () => void (path.delayMs = 200), async () => void (path.delayMs = 0)],
  ["frozen", async () => redis.signal("SIGSTOP"), async () => redis.signal("SIGCONT")],
  ["full", () => redis.command("CONFIG SET maxmemory 1"), () => redis.command("CONFIG SET maxmemory 0")],
  ["killed", () => redis.halt(), () => redis.resume()],
  ["restarted", () => redis.halt().then(() => redis.resume()), async () => {}],
]
await under(async () => {})
let failures = 0
for (const [name, harm, mend] of harms) {
  const { more, failed, answered } = await under(harm)
  failures += failed
  // The timers' own millisecond or two are on top of SVC_LIMITS_TIMEOUT_MS.
  table.add(`store ${name}: the slowest of ${answered} requests, longer than without a store`, more, "ms", {
    atMost: 52,
  })
  await mend()
  await back()
}
table.add("answers other than 200 meanwhile", failures, "", { atMost: 0 })

for (const { child } of [local, shared]) child.kill("SIGKILL")
provider.kill("SIGKILL")
await path.close()
await redis.stop()
console.log(table.text())
if (!table.met()) process.exitCode = 1
process.exit()
