// `pnpm bench attacks [seconds]`: what honest clients wait for while every attack on every resource runs against all three services at
// once. Each process has the heap of a container of 512 MiB.
import { setTimeout as delay } from "node:timers/promises"
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads"
import { createBenchmarkTable } from "@svc/testing"
import { z } from "zod"
import { ask, attackers, attacksOn, largeVersion } from "../test/attacks.ts"
import { publishStack } from "../test/publish-stack.ts"
import { openGround, type Replica, residentMb } from "./ground.ts"

const given = z.object({
  platform: z.string(),
  docs: z.string(),
  relay: z.string(),
  stack: z.string(),
  agents: z.array(z.string()),
  /** The person whose stack it is. */
  key: z.string(),
  specId: z.int(),
})
type Given = z.output<typeof given>

type Attack = () => Promise<unknown>
const allAttacks = (targets: Given): readonly (readonly [string, readonly Attack[]])[] => {
  const { platform, key, specId: spec_id } = targets
  // All together open more connections than a service takes.
  const attacks = Object.entries(attacksOn(targets, { ms: 30_000, most: 1200 }))
  return [
    ...attacks.flatMap(([resource, by]) => attackers.map((one) => [`${resource}, ${one}`, by[one]] as const)),
    ["builds", [() => ask("POST", `${platform}/api/builds`, { key, body: { spec_id } })]],
    ["runs", [() => ask("POST", `${platform}/api/automation/runs`, { key, body: { workflow: "publish", spec_id } })]],
  ]
}

const attack = async (targets: Given): Promise<void> => {
  const over = new AbortController()
  const wrong: Record<string, number> = {}
  const requests: Record<string, number> = {}
  parentPort?.once("message", () => over.abort())
  const once = async (name: string, begin: Attack): Promise<void> => {
    const response = await begin().catch(() => {})
    requests[name] = (requests[name] ?? 0) + 1
    if (!(response instanceof Response)) return
    await response.arrayBuffer().catch(() => {})
    const { status, headers } = response
    if (status < 500 || (status === 503 && headers.has("retry-after"))) return
    wrong[`${name}: ${status}`] = (wrong[`${name}: ${status}`] ?? 0) + 1
  }
  const loops = allAttacks(targets).map(async ([name, all], index) => {
    // To begin all at once is work of the attacker's, which shares the machine.
    await delay(index * 500)
    while (!over.signal.aborted) await Promise.all(all.map((begin) => once(name, begin)))
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
  const signUp = async (): Promise<string> => {
    const answer = await ask("POST", `${platform.url}/api/agents/signup`)
    return z.object({ api_key: z.string() }).parse(await answer.json()).api_key
  }
  const agents = await Promise.all(Array.from({ length: 9 }, signUp))
  const larger = await ask("PUT", `${platform.url}/api/specs/${specId}`, { key, packed: largeVersion("i32") })
  console.log(`the attacker's stack: ${larger.status}`)
  const attacker = new Worker(new URL(import.meta.url), {
    workerData: {
      platform: platform.url,
      docs: docs.url,
      relay: relay.url,
      stack: "attack",
      agents,
      key,
      specId,
    } satisfies Given,
  })
  const done = new Promise<unknown>((resolve, reject) => attacker.once("message", resolve).once("error", reject))

  const api_key = await signUp()
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
    ...[platform, docs, relay].map(({ name, url }) =>
      honest(`probe of ${name}`, 200, () => ask("GET", `${url}/livez`)),
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
    if (name.startsWith("probe"))
      table.add(`${name} (${own.length}): most`, own.at(-1) ?? Number.NaN, "ms", { atMost: 1000 })
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
else await attack(given.parse(workerData))
