// Measures the relay against a bare pass-through, in one run on one machine: only the ratios mean something elsewhere.
import { fileURLToPath } from "node:url"
import { createLimiter } from "@svc/http"
import { generateSigningKey, publicJwks, readSigningKeys, signSessionToken } from "@svc/session-token"
import { freePort, startProcess, type TestProcess } from "@svc/testing"
import { checkSigned, checkTransaction, decodeBase64 } from "../src/wire.ts"
import { transactionOfSize } from "../test/transactions.ts"
import { type Load, load, median } from "./load.ts"

const seconds = Number(process.env["BENCH_SECONDS"] ?? 2)
const rounds = 5
const connections = 32
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const portOf = async (child: TestProcess): Promise<number> => Number((await child.waitFor(/"port":(\d+)/))[1])

const rows: { what: string; measured: string; wanted: string; ok: boolean }[] = []
const row = (what: string, value: number, unit: string, limit: number, kind: "least" | "most"): void => {
  const ok = kind === "least" ? value >= limit : value <= limit
  rows.push({
    what,
    measured: `${value.toFixed(2)} ${unit}`,
    wanted: `${kind === "least" ? "≥" : "≤"} ${limit} ${unit}`,
    ok,
  })
}

const keys = await readSigningKeys(await generateSigningKey())
const claims = {
  iss: "svc-platform",
  sub: "agent:bench",
  aud: "transfers",
  jti: "00000000-0000-4000-8000-000000000000",
  scope: "transaction:inspect transaction:send",
  key_class: "secret" as const,
  metering_key: "key:1",
}
const { token } = await signSessionToken(keys, claims, Math.floor(Date.now() / 1000))
const headers = { authorization: `Bearer ${token}` }

const provider = startProcess(process.execPath, [file("canned-rpc.ts")])
const providerUrl = `http://127.0.0.1:${await portOf(provider)}`
const passThrough = startProcess(process.execPath, [file("pass-through.ts"), providerUrl])
const passThroughUrl = `http://127.0.0.1:${await portOf(passThrough)}/`
const port = await freePort()
const many = "1000000000"
const relay = startProcess(process.execPath, [file("../src/main.ts")], {
  env: {
    PORT: String(port),
    SVC_TRANSACTIONS_ENABLED: "true",
    SVC_TRANSACTION_RPC_URL: providerUrl,
    SVC_SESSION_PUBLIC_KEY: JSON.stringify(publicJwks(keys)),
    SVC_SESSION_AUDIENCE: "transfers",
    SVC_TRANSACTION_INSPECT_REQUESTS_PER_MINUTE: many,
    SVC_TRANSACTION_STATUS_REQUESTS_PER_MINUTE: many,
    SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: many,
    SVC_TRANSACTION_SEND_CONCURRENCY: "32",
  },
})
await portOf(relay)
const relayUrl = `http://127.0.0.1:${port}/transactions/v1`

const compare = async (name: string, route: string, body: unknown, rpcBody: unknown): Promise<void> => {
  const [ours, bare]: [Load[], Load[]] = [[], []]
  const bareTarget = { url: passThroughUrl, body: JSON.stringify(rpcBody) }
  const ourTarget = { url: `${relayUrl}/${route}`, body: JSON.stringify(body), headers }
  for (const target of [bareTarget, ourTarget]) await load(target, connections, 1)
  for (let round = 0; round < rounds; round++) {
    bare.push(await load(bareTarget, connections, seconds))
    ours.push(await load(ourTarget, connections, seconds))
  }
  const ratio = (pick: (one: Load) => number) => median(ours.map(pick)) / median(bare.map(pick))
  const rates = [ours, bare].map((loads) => Math.round(median(loads.map(({ perSecond }) => perSecond))))
  row(
    `${name}: throughput (${rates.join(" against ")} a second)`,
    ratio(({ perSecond }) => perSecond),
    "x",
    0.6,
    "least",
  )
  row(
    `${name}: p99`,
    ratio(({ p99 }) => p99),
    "x",
    2,
    "most",
  )
}

const transaction = await transactionOfSize(1232)
const rpc = (method: string, params: unknown[]) => ({ jsonrpc: "2.0", id: 1, method, params })
await compare("latest-blockhash", "latest-blockhash", {}, rpc("getLatestBlockhash", [{ commitment: "confirmed" }]))
await compare(
  "send, 1,232 bytes",
  "send",
  { transaction },
  rpc("sendTransaction", [transaction, { encoding: "base64" }]),
)

// A provider that stalls with every place of inspection taken.
const post = (route: string, body: unknown) =>
  fetch(`${relayUrl}/${route}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  })
const leaving = new AbortController()
const stalled = Array.from({ length: 64 }, () =>
  fetch(`${relayUrl}/fee`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ message: Buffer.from(transaction, "base64").subarray(65).toString("base64") }),
    signal: leaving.signal,
  }).catch(() => undefined),
)
while ((await post("block-height", {})).status !== 503);
const slowest = async (ask: () => Promise<Response>): Promise<number> => {
  const times: number[] = []
  for (let i = 0; i < 50; i++) {
    const from = performance.now()
    const response = await ask()
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`status ${response.status} beside a stalled provider`)
    times.push(performance.now() - from)
  }
  return Math.max(...times)
}
row(
  "/health beside 64 stalled calls, slowest of 50",
  await slowest(() => fetch(`http://127.0.0.1:${port}/health`)),
  "ms",
  50,
  "most",
)
row("send beside 64 stalled calls, slowest of 50", await slowest(() => post("send", { transaction })), "ms", 50, "most")
leaving.abort()
await Promise.all(stalled)
for (const child of [relay, passThrough, provider]) child.kill("SIGKILL")

const timeOf = async (times: number, run: () => unknown): Promise<number> => {
  for (let i = 0; i < times; i++) await run()
  // The thread's own time: others may be using the machine.
  const from = process.threadCpuUsage()
  for (let i = 0; i < times; i++) await run()
  const { user, system } = process.threadCpuUsage(from)
  return (user + system) / 1000 / times
}
const structure = (): unknown => checkTransaction(decodeBase64(transaction, "transaction", 1232), "structure")
row("structure checks, 1,232 bytes", await timeOf(2000, structure), "ms", 0.15, "most")
const whole = (): unknown => checkSigned(decodeBase64(transaction, "transaction", 1232), "structure")
row("the same with the derived signature", await timeOf(2000, whole), "ms", 0.15, "most")

// The script runs with --expose-gc, so that garbage is not counted.
globalThis.gc?.()
const before = process.memoryUsage()
const limiter = createLimiter({ now: () => 0 })
for (let i = 0; i < 100_000; i++)
  limiter.take("send", `2001:db8:${(i >> 16).toString(16)}:${(i & 0xffff).toString(16)}/64`, 60)
globalThis.gc?.()
const after = process.memoryUsage()
const used = (after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 1e6
row(`${limiter.size()} rate buckets`, used, "MB", 50, "most")

console.table(rows)
if (rows.some(({ ok }) => !ok)) process.exitCode = 1
process.exit()
