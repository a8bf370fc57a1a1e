// Goes through the table of docs/decisions/resources.md: while somebody fills a resource, others are served.
// @module-tag long
import * as events from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import {
  containerHeap,
  createTestDatabase,
  freePort,
  full,
  readPageTables,
  startProcess,
  startReceiver,
} from "@svc/testing"
import { afterAll, expect, test } from "vitest"
import { temporaryFolder } from "../apps/platform-api/test/service.ts"
import { residentMb } from "../bench/ground.ts"
import { allocatorSettings } from "../infra/services.ts"
import type { Order } from "./attacker.ts"
import { ask, attackers, attacksOn, largeVersion, smallVersion, wasLate, type Resource } from "./attacks.ts"
import { publishStack } from "./publish-stack.ts"
import { beforeTests } from "./start-service.ts"

const attackMs = full ? 20_000 : 50
const attack = { ms: attackMs, most: full ? 4500 : 600 }

const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

/** A service as the images start it. */
const start = async (app: string, env: Readonly<Record<string, string>> = {}) => {
  const [port, probePort] = [await freePort(), await freePort()]
  const child = startProcess(process.execPath, [...containerHeap, "src/main.ts"], {
    cwd: join(import.meta.dirname, "../apps", app),
    env: {
      ...allocatorSettings,
      PORT: String(port),
      SVC_PROBE_PORT: String(probePort),
      SVC_TRUSTED_PROXY_CIDRS: "127.0.0.1/32",
      ...(!full && { SVC_HTTP_MAX_CONNECTIONS: "512" }),
      ...env,
    },
  })
  ends.push(() => {
    child.kill("SIGKILL")
    return child.exited
  })
  await child.waitFor(/"listening"/)
  return { name: app, url: `http://127.0.0.1:${port}`, probeUrl: `http://127.0.0.1:${probePort}/livez`, pid: child.pid }
}

const startProvider = async () => {
  const provider = await startReceiver()
  ends.push(provider.close)
  const logs = Array.from({ length: 1900 }, () => "x".repeat(1000))
  const simulation = { err: null, logs, unitsConsumed: 1, accounts: null, returnData: null }
  provider.answer(({ body }, response) => {
    const { id, method } = Object(JSON.parse(String(body)))
    const result = method === "simulateTransaction" ? { context: { slot: 1 }, value: simulation } : 7
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
  })
  return provider.url
}

const open = async () => {
  const database = await createTestDatabase()
  const { folder, remove } = temporaryFolder()
  ends.push(database.stop, remove)
  const settings = { DATABASE_URL: database.url, SVC_DATA_DIR: folder, SVC_VERSIONS_PER_SPEC: "1000000" }
  const provider = await startProvider()
  const relaying = { SVC_TRANSACTIONS_ENABLED: "true", SVC_TRANSACTION_RPC_URL: provider }
  const services = [await start("docs-server"), await start("platform-api", settings), await start("relay", relaying)]
  const [docs = "", platform = "", relay = ""] = services.map(({ url }) => url)
  const attacker = await publishStack(platform, settings, "large")
  for (const type of ["i32", "u32"]) {
    const { key, specId: spec_id } = attacker
    const versions = `${platform}/api/specs/${spec_id}/versions`
    expect((await ask("POST", versions, { key, packed: largeVersion(type) })).status).toBe(201)
    const run = { key, body: { workflow: "publish", spec_id } }
    expect((await ask("POST", `${platform}/api/automation/runs`, run)).status).toBe(202)
  }
  const signUp = async () => String(Object(await (await ask("POST", `${platform}/api/agents/signup`)).json()).api_key)
  const agents = await Promise.all(Array.from({ length: 9 }, signUp))
  const publisher = await publishStack(platform, settings, "honest")
  const targets = { platform, docs, relay, stack: "large", agents }
  return { services, targets, publisher }
}
const ground = beforeTests(open)

const none = attacksOn({ platform: "", docs: "", relay: "", stack: "", agents: [] }, attack)
const resources = Object.keys(none) as Resource[]

test("every resource that one caller can exhaust has its attacks", () => {
  const page = readFileSync(join(import.meta.dirname, "../docs/decisions/resources.md"), "utf8")
  const ours = "memory of a client that reads a stream"
  expect(readPageTables(page)[0]?.rows.map(([name]) => name)).toEqual([...resources, ours])
})

const attacked: Promise<readonly string[]>[] = []

test.each(resources.flatMap((resource) => attackers.map((attacker) => [resource, attacker] as const)))(
  "while %s are filled from %s, readers, publishers and probes are served",
  async (resource, attacker) => {
    const { services, targets, publisher } = ground
    const { docs, platform, relay } = targets
    const order: Order = { targets, resource, attacker, ...attack }
    const thread = new Worker(new URL("attacker.ts", import.meta.url), { workerData: order })
    ends.push(() => thread.terminate())
    await events.once(thread, "message")
    const ended = events.once(thread, "message").then(([faults]) => faults)
    attacked.push(ended)
    const until = performance.now() + attackMs
    const unserved: string[] = []
    let slowest = 0
    const repeat = async (once: () => Promise<unknown>): Promise<void> => {
      do await once()
      while (performance.now() < until)
    }
    const honest = (name: string, expected: number, once: () => Promise<Response>) =>
      repeat(async () => {
        const began = performance.now()
        const answer = await once().then(
          async (response) => ((await wasLate(response)) && !full ? expected : response.status),
          (error: unknown) => String(error instanceof TypeError ? (error.cause ?? error) : error),
        )
        if (answer !== expected) unserved.push(`${name}: ${answer}`)
        if (name === "probe") slowest = Math.max(slowest, performance.now() - began)
      })
    await Promise.all([
      honest("page", 200, () => ask("GET", `${docs}/relay`)),
      honest("schema", 200, () => ask("GET", `${platform}/api/registry/large/schema`)),
      honest("sign-up", 201, () => ask("POST", `${platform}/api/agents/signup`)),
      honest("version", 201, () => {
        const { key, specId } = publisher
        return ask("POST", `${platform}/api/specs/${specId}/versions`, { key, packed: smallVersion() })
      }),
      honest("block height", 200, () => ask("POST", `${relay}/transactions/v1/block-height`, { body: {} })),
      ...services.map(({ url }) => honest("probe of the first port", 200, () => ask("GET", `${url}/livez`))),
      ...services.map(({ probeUrl }) => honest("probe", 200, () => ask("GET", probeUrl))),
    ])
    if (full) await ended
    expect(unserved).toEqual([])
    expect(services.filter(({ pid }) => !(residentMb(pid) < 512))).toEqual([])
    // In `pnpm test` the machine is busy with other tests.
    expect(slowest).toBeLessThan(full ? 1000 : Infinity)
  },
)

test("no attack causes an internal error", async () => {
  expect((await Promise.all(attacked)).flat()).toEqual([])
})
