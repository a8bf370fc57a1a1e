// How fast a change reaches a reader at another replica, and what idle streams cost: node apps/platform-api/bench/changes.ts
import { readFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import { median, startPostgres } from "@svc/testing"
import { openServerDatabase } from "../src/db/server/server.ts"
import { publish } from "../src/operator/publish.ts"
import { parseAst } from "../src/registry/ast/parse-ast.ts"
import { startReplica } from "../test/program.ts"
import { temporaryFolder } from "../test/service.ts"
import { first, grown } from "../test/work/person.ts"

const publications = 200
const streams = 2000
const idleMs = 60_000
// The server counts what an idle session did up to ten seconds later.
const settleMs = 15_000

const server = await startPostgres()
const { folder, remove } = temporaryFolder()
const env = {
  DATABASE_URL: server.url,
  SVC_DATA_DIR: folder,
  SVC_TRUSTED_PROXY_CIDRS: "127.0.0.1/32",
  SVC_WORKER: "false",
}
const replica = await startReplica({ ...env, SVC_REGISTRY_REQUESTS_PER_MINUTE: "0" })
const other = openServerDatabase({ url: server.url, statementMs: 0, connections: 2, now: () => performance.now() })
const queries = () => other.within(60_000)

/** Opens a stream by hand, as cheaply for this process as can be. */
const open = (n: number, onText: (text: string) => void): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, port, host } = new URL(replica.url)
    const socket = connect(Number(port), hostname, () =>
      socket.write(
        `GET /api/registry/changes HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\nx-forwarded-for: 198.18.${n >> 8}.${n & 255}\r\n\r\n`,
      ),
    )
    socket.setEncoding("utf8").on("data", (text: string) => {
      if (text.startsWith("HTTP/1.1 200")) resolve(socket)
      onText(text)
    })
    socket.once("error", reject)
  })

const arrivals = new Map<number, number>()
const reader = await open(0, (text) => {
  for (const [, version] of text.matchAll(/"version":(\d+)/g)) arrivals.set(Number(version), performance.now())
})
const waits: number[] = []
const stack = {
  name: "measured",
  description: null,
  websocketUrl: "wss://measured.example",
  visibility: "public",
} as const
for (let n = 1; n <= publications; n++) {
  const ast = parseAst(n % 2 === 0 ? grown : first)
  await publish(queries(), { ...stack, relay: false, browserSend: false, allowBreaking: true, ast }, new Date())
  const committed = performance.now()
  while (!arrivals.has(n)) await delay(1)
  waits.push(Math.max(0, (arrivals.get(n) ?? 0) - committed))
}
const sorted = waits.toSorted((a, b) => a - b)
console.log(
  `commit to a reader at another replica: median ${median(waits).toFixed(1)} ms, p99 ${sorted[Math.floor(waits.length * 0.99)]?.toFixed(1)} ms, most ${sorted.at(-1)?.toFixed(1)} ms (${publications} publications)`,
)
reader.destroy()

const memory = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${replica.program.pid}/status`, "utf8"))?.[1]) / 1024
const transactions = async (): Promise<number> => {
  const sql =
    "select (xact_commit + xact_rollback)::float8 as count from pg_stat_database where datname = current_database() and $1 = 1"
  return (await queries().query<{ count: number }>(sql, [1]))[0]?.count ?? 0
}
const inIdleTime = async (): Promise<number> => {
  const before = await transactions()
  await delay(idleMs)
  return (await transactions()) - before
}
await delay(settleMs)
const [memoryBefore, queriesBefore] = [memory(), await inIdleTime()]
const open2000: Socket[] = []
for (let n = 0; n < streams; n += 50) {
  open2000.push(...(await Promise.all(Array.from({ length: 50 }, (_, i) => open(n + i, () => {})))))
}
await delay(settleMs)
const queriesAfter = await inIdleTime()
const memoryAfter = memory()
console.log(
  `${open2000.length} idle streams: ${(memoryAfter - memoryBefore).toFixed(0)} MB more memory (${memoryBefore.toFixed(0)} to ${memoryAfter.toFixed(0)} MB), ${queriesBefore} transactions in ${idleMs / 1000} s before, ${queriesAfter} with them`,
)

open2000.forEach((socket) => socket.destroy())
replica.program.kill("SIGTERM")
await replica.program.exited
await other.close()
await server.stop()
remove()
