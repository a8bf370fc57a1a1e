// Ratios to a bare Hono route, start and memory, on a PostgreSQL server of its own.
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { z } from "zod"
import { createBenchmarkTable, startPostgres, startProcess } from "@svc/testing"
import { app, compare, connections, rate, residentMb, runBenchmark, start, stopStarted } from "./measure.ts"

const table = createBenchmarkTable()
const server = await startPostgres()
const folder = mkdtempSync(join(tmpdir(), "svc-bench-"))
const env = {
  DATABASE_URL: server.url,
  SVC_DATA_DIR: folder,
  SVC_REGISTRY_REQUESTS_PER_MINUTE: "0",
  SVC_REQUESTS_PER_MINUTE: "0",
  SVC_SIGNUPS_PER_HOUR: "1000",
  SVC_LOG_LEVEL: "info",
}
const measure = async (): Promise<void> => {
  await start("src/main.ts", env)
  await stopStarted()

  const service = await start("src/main.ts", env)
  table.add("start on PostgreSQL, migrations done", service.startMs, "ms", { atMost: 1000 })
  table.add("resident, idle", residentMb(service.program.pid), "MB", { atMost: 150 })

  const signUp = async () => {
    const signedUp: unknown = await (await fetch(`${service.url}/api/agents/signup`, { method: "POST" })).json()
    return z.object({ slug: z.string(), api_key: z.string() }).parse(signedUp)
  }
  // One agent a connection, as in life: requests of one key could share what is looked up.
  const agents = await Promise.all(Array.from({ length: connections }, signUp))
  const slug = agents[0]?.slug ?? ""
  const file = fileURLToPath(new URL("../stacks/token-swaps.stack.json", import.meta.url))
  const args = [
    "src/main.ts",
    "stack",
    "publish",
    file,
    "--name",
    "bench",
    "--websocket-url",
    "wss://streams.example/bench",
  ]
  await startProcess(process.execPath, args, { cwd: app, env }).exited
  const schemaUrl = `${service.url}/api/registry/bench/schema`
  let response = await fetch(schemaUrl)
  while (response.status !== 200) response = await fetch(schemaUrl)
  const schema = Buffer.from(await response.arrayBuffer()).toString("base64")
  const bare = await start("bench/bare.ts", { DATABASE_URL: server.url, SCHEMA: schema, SLUG: slug }, "/plain")

  const authorization = agents.map(({ api_key: key }) => ({ authorization: `Bearer ${key}` }))
  const me = () => rate(`${service.url}/api/agents/me`, authorization)
  const query = () => rate(`${bare.url}/query`)
  await compare(table, "GET /api/agents/me to one prepared query", { atLeast: 0.8 }, me, query)
  await compare(table, "GET /api/agents/me to no query", { atLeast: 0.2 }, me, () => rate(`${bare.url}/plain`))
  await compare(
    table,
    "GET /api/registry/:name/schema",
    { atLeast: 0.7 },
    () => rate(schemaUrl),
    () => rate(`${bare.url}/schema`),
  )

  await stopStarted()
  const embedded = await start("src/main.ts", { SVC_DATA_DIR: join(folder, "new") })
  table.add("start on a new embedded database", embedded.startMs, "ms", { atMost: 4000 })
}

await runBenchmark(table, { server, folder }, measure)
