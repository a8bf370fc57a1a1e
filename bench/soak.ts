// `pnpm soak [seconds]`: mixed load on all services at two replicas each, on real PostgreSQL and Redis, with telemetry on: one of the
// two exports to a collector, the other has a Prometheus page. Ten minutes by default. Prints the requests, memory over time,
// and every unexpected response.
import { setTimeout as delay } from "node:timers/promises"
import { containerHeap, createBenchmarkTable, freePort, mean } from "@svc/testing"
import { z } from "zod"
import { publishStack } from "../test/publish-stack.ts"
import { openGround, type Replica, residentMb, startCollector, transfersUrl } from "./ground.ts"

const seconds = z.coerce.number().positive().default(600).parse(process.argv[2])
const samples = 12
const loopsOfEach = 3

const prometheusPage = async () => ({
  SVC_OTEL_ENABLED: "true",
  OTEL_TRACES_EXPORTER: "none",
  OTEL_METRICS_EXPORTER: "prometheus",
  OTEL_EXPORTER_PROMETHEUS_HOST: "127.0.0.1",
  OTEL_EXPORTER_PROMETHEUS_PORT: String(await freePort()),
})

const ground = await openGround(containerHeap)
const collector = await startCollector()
const pair = async (
  start: (telemetry: Readonly<Record<string, string>>) => Promise<Replica>,
): Promise<readonly [Replica, Replica]> => [
  await start({ ...collector.settings, ...ground.limits }),
  await start({ ...(await prometheusPage()), ...ground.limits }),
]
// All clients have one address.
const platforms = await pair((telemetry) => ground.platform({ ...telemetry, SVC_FAILED_AUTH_PER_MINUTE: "0" }))
await ground.publishTransfers()
const relays = await pair((telemetry) => ground.relay(platforms[0].url, telemetry))
const docs = await pair(ground.docs)
const replicas = [...platforms, ...relays, ...docs]

const counts = new Map<string, { requests: number; slowestMs: number }>()
const wrong = new Map<string, number>()
let turns = 0

/** One request to the next replica. Returns its JSON, or undefined if the response was unexpected. */
const ask = async (
  what: string,
  pairOf: readonly Replica[],
  [method, path]: readonly [string, string],
  expected: number,
  { key, body }: { readonly key?: string | undefined; readonly body?: object } = {},
): Promise<unknown> => {
  const replica = pairOf[turns++ % pairOf.length] ?? platforms[0]
  const from = performance.now()
  let answer = "no answer"
  let parsed: unknown
  try {
    const response = await fetch(replica.url + path, {
      method,
      headers: {
        accept: "application/json, text/event-stream",
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    answer = String(response.status)
    if (response.status !== expected) answer += ` ${text.slice(0, 100)}`
    else if (response.headers.get("content-type")?.includes("json") === true) parsed = JSON.parse(text)
  } catch (error) {
    answer = `no response: ${error instanceof Error ? `${error.message} ${String(error.cause)}` : String(error)}`
  }
  const known = counts.get(what) ?? { requests: 0, slowestMs: 0 }
  counts.set(what, {
    requests: known.requests + 1,
    slowestMs: Math.max(known.slowestMs, performance.now() - from),
  })
  if (answer === String(expected)) return parsed
  const line = `${what}: ${answer}`
  wrong.set(line, (wrong.get(line) ?? 0) + 1)
  return undefined
}

const signedUp = z.object({ api_key: z.string() })
const newKey = z.object({ key: z.string(), id: z.int() })
const minted = z.object({ token: z.string() })
const words = "limits token send stack schema error key stream origin relay version sign".split(" ")
const pick = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] ?? (all[0] as T)

/** An agent's life: signs up, reads the registry, rotates a key, mints a token, uses the relay. */
const agent = async (): Promise<void> => {
  const signup = signedUp.safeParse(await ask("sign up", platforms, ["POST", "/api/agents/signup"], 201))
  if (!signup.success) return
  const key = signup.data.api_key
  for (let i = 0; i < 5; i++) {
    await ask("profile", platforms, ["GET", "/api/agents/me"], 200, { key })
    await ask("registry", platforms, ["GET", "/api/registry"], 200)
    await ask("schema", platforms, ["GET", "/api/registry/transfers/schema"], 200)
  }
  const second = newKey.safeParse(
    await ask("mint a key", platforms, ["POST", "/api/agents/me/keys"], 201, { key, body: { name: "next" } }),
  )
  if (second.success) {
    const path = `/api/agents/me/keys/${second.data.id}`
    await ask("revoke a key", platforms, ["DELETE", path], 200, { key })
    await ask("a revoked key", platforms, ["GET", "/api/agents/me"], 401, { key: second.data.key })
  }
  const session = { websocket_url: transfersUrl, scope: "transaction:inspect transaction:send" }
  const token = minted.safeParse(await ask("session", platforms, ["POST", "/ws/sessions"], 200, { key, body: session }))
  if (!token.success) return
  const own = { key: token.data.token }
  for (let i = 0; i < 20; i++) {
    await ask("latest blockhash", relays, ["POST", "/transactions/v1/latest-blockhash"], 200, { ...own, body: {} })
    const bytes = Buffer.concat([Buffer.from([1]), crypto.getRandomValues(Buffer.alloc(264))])
    const body = { transaction: bytes.toString("base64") }
    await ask("send", relays, ["POST", "/transactions/v1/send"], 200, { ...own, body })
    await ask("a bad transaction", relays, ["POST", "/transactions/v1/send"], 400, {
      ...own,
      body: { transaction: "AA==" },
    })
  }
  await ask("a bad token", relays, ["POST", "/transactions/v1/block-height"], 401, { key: "none", body: {} })
}

const reader = async (): Promise<void> => {
  const call = (name: string, given: object) => ({
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } },
  })
  const query = `${pick(words)} ${pick(words)} ${Math.random() < 0.3 ? Math.random().toString(36) : ""}`
  await ask("search", docs, ["POST", "/mcp"], 200, call("search_docs", { query }))
  await ask("fetch a page", docs, ["POST", "/mcp"], 200, call("fetch_page", { path: "/relay" }))
  await ask("a page", docs, ["GET", "/relay"], 200)
  await ask("the descriptor", docs, ["GET", "/mcp"], 200)
  await ask("no page", docs, ["GET", `/${pick(words)}-of-nothing`], 404)
  await delay(20)
}

const publisher = await publishStack(platforms[0].url, ground.platformSettings, "soak")
const publish = async (): Promise<void> => {
  const body = { workflow: "publish", spec_id: publisher.specId }
  const run = z
    .object({ id: z.int() })
    .safeParse(await ask("publish", platforms, ["POST", "/api/automation/runs"], 202, { key: publisher.key, body }))
  if (!run.success) return
  let status = "running"
  while (["pending", "queued", "running"].includes(status)) {
    await delay(200)
    const path = `/api/automation/runs/${run.data.id}`
    const answer = await ask("a run", platforms, ["GET", path], 200, { key: publisher.key })
    status = z.object({ status: z.string() }).parse(answer).status
  }
  if (status !== "succeeded") wrong.set(`publish: ${status}`, (wrong.get(`publish: ${status}`) ?? 0) + 1)
  await delay(1000)
}

const until = performance.now() + seconds * 1000
const loop = async (work: () => Promise<void>): Promise<void> => {
  while (performance.now() < until) await work()
}
const memory: number[][] = []
const sample = async (): Promise<void> => {
  for (let i = 0; i < samples; i++) {
    await delay((seconds * 1000) / samples)
    memory.push(replicas.map(({ child }) => residentMb(child.pid)))
    console.error(`${Math.round(((i + 1) * seconds) / samples)} s: ${memory.at(-1)?.map(Math.round).join(", ")} MB`)
  }
}
const loops = [agent, reader].flatMap((work) => Array.from({ length: loopsOfEach }, () => loop(work)))
await Promise.all([...loops, loop(publish), sample()])
await ground.stop()
collector.stop()

const rows = [...counts].map(
  ([what, { requests, slowestMs }]) => `| ${what} | ${requests} | ${Math.round(slowestMs)} ms |`,
)
console.log(["| Request | Answered as asked | Slowest |", "|---|---|---|", ...rows].join("\n"))
console.log(`\n${[...counts.values()].reduce((sum, { requests }) => sum + requests, 0)} requests in ${seconds} s\n`)

// Stable: the last third is at most a tenth above the second one. The first is warm-up.
const table = createBenchmarkTable()
replicas.forEach(({ name }, index) => {
  const third = samples / 3
  const [middle, end] = [memory.slice(third, 2 * third), memory.slice(2 * third)].map((part) =>
    mean(part.map((row) => row[index] ?? Number.NaN)),
  )
  table.add(`${name}: resident memory in the last third`, end ?? Number.NaN, "MB", { atMost: 200 })
  const goal = seconds >= 300 ? { atMost: 1.1 } : undefined
  table.add(`${name}: that to the second third`, (end ?? Number.NaN) / (middle ?? Number.NaN), "x", goal)
})
table.add(
  "unexpected responses",
  [...wrong.values()].reduce((sum, count) => sum + count, 0),
  "",
  { atMost: 0 },
)
console.log(table.text())
for (const [line, count] of wrong) console.log(`${count}× ${line}`)
if (!table.met()) process.exitCode = 1
process.exit()
