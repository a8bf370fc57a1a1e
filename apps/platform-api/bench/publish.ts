// How long publishing takes from the POST until both of two replicas show the new version, on PostgreSQL: a stack of about
// 100 kB, and a small one. `node apps/platform-api/bench/publish.ts`
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { freePort, startPostgres, startProcess } from "@svc/testing"
import { sampleStacks } from "../stacks/index.ts"

const rounds = 9
const app = fileURLToPath(new URL("..", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "svc-publish-"))
const server = await startPostgres()
const env = {
  DATABASE_URL: server.url,
  SVC_DATA_DIR: folder,
  SVC_LOG_LEVEL: "info",
  SVC_REGISTRY_REQUESTS_PER_MINUTE: "0",
}

const command = spawn(process.execPath, ["src/main.ts", "user", "create", "--email", "bench@example.org"], {
  cwd: app,
  env: { ...process.env, ...env },
  stdio: ["ignore", "pipe", "inherit"],
})
let printed = ""
command.stdout.on("data", (text: Buffer) => (printed += text.toString()))
await once(command, "close")
const { api_key } = JSON.parse(printed) as { api_key: string }

const replicas = await Promise.all(
  [1, 2].map(async () => {
    const port = await freePort()
    const program = startProcess(process.execPath, ["src/main.ts"], { cwd: app, env: { ...env, PORT: String(port) } })
    await program.waitFor(/"listening"/)
    return { program, url: `http://127.0.0.1:${port}` }
  }),
)
const [first] = replicas
if (first === undefined) throw new Error("no replica")

const post = async (path: string, body: object): Promise<{ id: number }> => {
  const headers = { authorization: `Bearer ${api_key}`, "content-type": "application/json" }
  const answer = await fetch(`${first.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as { id: number }
}

const shows = async (url: string, name: string, version: number): Promise<void> => {
  for (;;) {
    const answer = await fetch(`${url}/api/registry/${name}`)
    const { version: shown } = (await answer.json()) as { version?: number }
    if (shown === version) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

try {
  for (const sample of ["token-swaps", "name-service"]) {
    const file = sampleStacks.find(({ name }) => name === sample)?.file
    if (file === undefined) throw new Error(`no sample stack ${sample}`)
    const ast = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>
    const name = `bench-${sample}`
    const spec = await post("/api/specs", { name, websocket_url: `wss://bench.example/${name}`, visibility: "public" })
    const times: number[] = []
    for (let round = 1; round <= rounds; round++) {
      const ast_payload = { ...ast, stack_name: `Bench${round}` }
      const began = performance.now()
      await post("/api/automation/runs", { workflow: "publish", spec_id: spec.id, ast_payload })
      await Promise.all(replicas.map(({ url }) => shows(url, name, round)))
      times.push(performance.now() - began)
    }
    times.sort((a, b) => a - b)
    const kilobytes = Math.round(JSON.stringify(ast).length / 1000)
    const told = `median ${times[rounds >> 1]?.toFixed(0)} ms, longest ${times.at(-1)?.toFixed(0)} ms of ${rounds}`
    console.log(`publish run, ${sample} (${kilobytes} kB), from the POST to both replicas: ${told}`)
  }
} finally {
  for (const { program } of replicas) program.kill("SIGTERM")
  await Promise.all(replicas.map(({ program }) => program.exited))
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
