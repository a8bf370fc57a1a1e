// Ratios to a bare Hono route, start and memory, on a PostgreSQL server of its own: `node apps/platform-api/bench/run.ts`.
import { readFileSync, rmSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { startPostgres, startProcess } from "@svc/testing"
import { app, compare, rate, start, startService } from "./measure.ts"

const server = await startPostgres()
const folder = mkdtempSync(join(tmpdir(), "svc-bench-"))
const env = {
  DATABASE_URL: server.url,
  SVC_DATA_DIR: folder,
  SVC_REGISTRY_REQUESTS_PER_MINUTE: "0",
  SVC_LOG_LEVEL: "info",
}
const first = await startService(env)
first.program.kill("SIGTERM")
await first.program.exited

const service = await startService(env)
const memory = () => {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.program.pid}/status`, "utf8"))?.[1]
  return Math.round(Number(kilobytes) / 1024)
}
console.log(
  `start with migrations done: ${Math.round(service.startMs)} ms (goal 1000), idle: ${memory()} MB (goal 150)`,
)

const signedUp: unknown = await (await fetch(`${service.url}/api/agents/signup`, { method: "POST" })).json()
const { api_key: key = "", slug = "" } = signedUp as { api_key?: string; slug?: string }
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
const bare = await start("bench/bare.ts", { DATABASE_URL: server.url, SCHEMA: schema, SLUG: slug })

const authorization = { authorization: `Bearer ${key}` }
const me = () => rate(`${service.url}/api/agents/me`, authorization)
await me()
await rate(`${bare.url}/query`)
await compare("GET /api/agents/me to one prepared query", 0.8, me, () => rate(`${bare.url}/query`))
await compare("GET /api/agents/me to no query", 0.2, me, () => rate(`${bare.url}/plain`))
await compare(
  "GET /api/registry/:name/schema",
  0.7,
  () => rate(schemaUrl),
  () => rate(`${bare.url}/schema`),
)

for (const { program } of [service, bare]) program.kill("SIGTERM")
await service.program.exited
await server.stop()

const embedded = await startService({ SVC_DATA_DIR: join(folder, "new") })
console.log(`start on a new embedded database: ${Math.round(embedded.startMs)} ms (goal 4000)`)
embedded.program.kill("SIGTERM")
await embedded.program.exited
rmSync(folder, { recursive: true, force: true })
