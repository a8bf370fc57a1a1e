// The service over a database as large as it is meant for, on a PostgreSQL server of its own: 100,000 agents, 300,000 keys,
// 1,000 stacks of 100 kB, one agent with 1,000,000 builds. About three minutes.
import { randomBytes } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { createBenchmarkTable, type Load, startPostgres } from "@svc/testing"
import { insertKey } from "../src/auth/accounts.ts"
import { migrate } from "../src/db/migrate.ts"
import { openServerDatabase } from "../src/db/server.ts"
import { publish } from "../src/operator/publish.ts"
import { readAst } from "../src/registry/read-ast.ts"
import { buildsSql } from "../src/routes/builds.ts"
import { sampleStacks } from "../stacks/index.ts"
import { loadDatabase, loadedSlug, loadStacks } from "./load.ts"
import { compare, connections, rate, start, stopStarted } from "./measure.ts"

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`

const table = createBenchmarkTable()
const server = await startPostgres()
const folder = mkdtempSync(join(tmpdir(), "svc-bench-"))
const env = {
  DATABASE_URL: server.url,
  SVC_DATA_DIR: folder,
  SVC_REGISTRY_REQUESTS_PER_MINUTE: "0",
  SVC_REGISTRY_KEYED_REQUESTS_PER_MINUTE: "0",
  SVC_REQUESTS_PER_MINUTE: "0",
}
const database = openServerDatabase({
  url: server.url,
  statementMs: 0,
  connections: 2,
  now: () => performance.now(),
})
const queries = database.within(600_000)
try {
  let began = performance.now()
  await migrate(queries)
  await loadDatabase(server.url, { agents: 100_000, keysPerAgent: 3, builds: 1_000_000, shared: 1000 })
  const sample = sampleStacks.find(({ name }) => name === "token-swaps")
  if (sample === undefined) throw new Error("the sample is gone")
  const stack = {
    name: "bench",
    description: null,
    websocketUrl: "wss://streams.example/bench",
    visibility: "public",
    relay: false,
    browserSend: false,
  } as const
  // Padded to 100 kB with what does not compress away.
  const padding = Array.from({ length: 300 }, () => randomBytes(64).toString("hex"))
  const ast = readAst(JSON.stringify({ ...JSON.parse(readFileSync(sample.file, "utf8")), padding }))
  await publish(queries, { ...stack, ast }, new Date())
  await loadStacks(server.url, 1000)
  const keyOf = (userId: number) =>
    queries.transaction((tx) =>
      insertKey(tx, { kind: "ak", userId, name: "bench", createdAt: new Date() }, randomBytes),
    )
  const owner = await keyOf(1)
  // One agent a connection, spread over all there are: requests of one key could share what is looked up.
  const agents = await Promise.all(Array.from({ length: connections }, (_, i) => keyOf(2 + i * 3000)))
  console.log(`loaded in ${seconds(began)}`)

  const service = await start("src/main.ts", env)
  const kilobytes = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.program.pid}/status`, "utf8"))?.[1])
  table.add("start over that much", service.startMs, "ms", { atMost: 3000 })
  table.add("resident after the start", kilobytes() / 1024, "MB")

  const bearer = ({ text }: { text: string }) => ({ authorization: `Bearer ${text}` })
  const schemaUrl = `${service.url}/api/registry/bench/schema`
  const SCHEMA = Buffer.from(await (await fetch(schemaUrl)).arrayBuffer()).toString("base64")
  const peer = { DATABASE_URL: server.url, SCHEMA, SLUG: loadedSlug, LIST_SQL: buildsSql.list }
  const bare = await start("bench/bare.ts", peer, "/plain")
  const own = (path: string) => () => rate(`${service.url}${path}`, bearer(owner))
  const meUrl = "/api/agents/me"
  const ofAll = () => rate(`${service.url}${meUrl}`, agents.map(bearer))
  const other = (path: string) => () => rate(`${bare.url}${path}`)
  const me = "GET /api/agents/me to one prepared query"
  await compare(table, me, { atLeast: 0.8 }, ofAll, other("/query"))
  await compare(table, "GET /api/registry/:name/schema", { atLeast: 0.7 }, () => rate(schemaUrl), other("/schema"))
  const builds = "GET /api/builds, 50 of 1,000,000, to the same query"
  await compare(table, builds, { atLeast: 0.5 }, own("/api/builds"), other("/list"))
  const far = "GET /api/builds?offset=900000 to the first page"
  await compare(table, far, undefined, own("/api/builds?offset=900000"), own("/api/builds"))

  const enough = new AbortController()
  let published = 0
  const publisher = (async () => {
    while (!enough.signal.aborted) {
      const changed = { ...ast, ast_version: `0.0.${published + 2}` }
      await publish(
        queries,
        {
          ...stack,
          name: `bench-${(published % 50) + 1}`,
          websocketUrl: `wss://streams.example/bench-${(published % 50) + 1}`,
          ast: changed,
        },
        new Date(),
      )
      published++
      await setTimeout(100)
    }
  })()
  began = performance.now()
  const during = await rate(schemaUrl)
  enough.abort()
  await publisher
  const busy = `GET /api/registry/:name/schema while stacks are published, ${published} in ${seconds(began)}`
  table.add(busy, during.perSecond, "a second", { atLeast: 10_000 })
  table.add("resident after all that", kilobytes() / 1024, "MB")

  const second = await start("src/main.ts", env)
  // The same two clients, at one replica and at one each.
  const clients =
    (...urls: readonly [string, string]) =>
    async (): Promise<Load> => {
      const [one, two] = await Promise.all([
        rate(urls[0] + meUrl, agents.map(bearer), connections / 2),
        rate(urls[1] + meUrl, agents.map(bearer), connections / 2),
      ])
      return {
        perSecond: one.perSecond + two.perSecond,
        p50: Math.max(one.p50, two.p50),
        p99: Math.max(one.p99, two.p99),
      }
    }
  const [both, alone] = [clients(service.url, second.url), clients(service.url, service.url)]
  await compare(table, "two replicas to one", { atLeast: 1 }, both, alone)
} finally {
  await stopStarted()
  await database.close()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}

console.log(table.text())
if (!table.met()) process.exitCode = 1
