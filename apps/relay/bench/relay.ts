// Measures the relay against a bare pass-through, in one run on one machine: only the ratios mean something elsewhere.
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { createLimiter } from "@svc/limits"
import { generateSigningKey, publicJwks, readSigningKeys, signSessionToken } from "@svc/session-token"
import {
  compareLoads,
  createBenchmarkTable,
  freePort,
  load,
  redisProgram,
  startProcess,
  startRedis,
  type TestProcess,
} from "@svc/testing"
import { checkSigned, checkTransaction, decodeBase64 } from "../src/wire.ts"
import { transactionOfSize } from "../test/transactions.ts"

const options = { connections: 32, seconds: Number(process.env["SVC_BENCH_SECONDS"] ?? 2) }
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const portOf = async (child: TestProcess): Promise<number> => Number((await child.waitFor(/"port":(\d+)/))[1])

const table = createBenchmarkTable()

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
const many = "1000000000"
const startRelay = async (env: Record<string, string> = {}) => {
  const port = await freePort()
  const child = startProcess(process.execPath, [file("../src/main.ts")], {
    env: { ...settings, ...env, PORT: String(port) },
    mute: true,
  })
  const healthy = async (): Promise<boolean> =>
    (await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined))?.status === 200
  while (!(await healthy())) await setTimeout(20)
  return { child, port, url: `http://127.0.0.1:${port}/transactions/v1` }
}
const settings = {
  SVC_TRANSACTIONS_ENABLED: "true",
  SVC_TRANSACTION_RPC_URL: providerUrl,
  SVC_SESSION_PUBLIC_KEY: JSON.stringify(publicJwks(keys)),
  SVC_SESSION_AUDIENCE: "transfers",
  SVC_TRANSACTION_INSPECT_REQUESTS_PER_MINUTE: many,
  SVC_TRANSACTION_STATUS_REQUESTS_PER_MINUTE: many,
  SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: many,
  SVC_TRANSACTION_SEND_CONCURRENCY: "32",
}
const { child: relay, port, url: relayUrl } = await startRelay()

const compare = async (name: string, route: string, body: unknown, rpcBody: unknown): Promise<void> => {
  const { ours, bare, ratio } = await compareLoads(
    () => load({ url: `${relayUrl}/${route}`, body: JSON.stringify(body), headers }, options),
    () => load({ url: passThroughUrl, body: JSON.stringify(rpcBody) }, options),
  )
  const rates = [ours, bare].map(({ perSecond }) => Math.round(perSecond))
  table.add(`${name}: throughput, ${rates.join(" a second to ")}`, ratio.perSecond, "x", {
    atLeast: name.startsWith("send") ? 0.65 : 0.6,
  })
  table.add(`${name}: p99, ${ours.p99} ms to ${bare.p99} ms`, ratio.p99, "x", { atMost: 2 })
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

// The same relay with its limits in a store, against the one that counts for itself.
const program = redisProgram()
if (program !== undefined) {
  const redis = await startRedis(program)
  const shared = await startRelay({ SVC_LIMITS_URL: redis.url })
  const loadOf = (url: string) => () => load({ url: `${url}/latest-blockhash`, body: "{}", headers }, options)
  const { ours, bare, ratio } = await compareLoads(loadOf(shared.url), loadOf(relayUrl))
  const rates = [ours, bare].map(({ perSecond }) => Math.round(perSecond))
  table.add(`limits in a store: throughput, ${rates.join(" a second to ")}`, ratio.perSecond, "x", { atLeast: 0.8 })
  // Alone, so that it is the wait for the store that is measured and not the queue for the processor.
  const alone = { connections: 1, seconds: options.seconds }
  const once = (url: string) => () => load({ url: `${url}/latest-blockhash`, body: "{}", headers }, alone)
  const latency = await compareLoads(once(shared.url), once(relayUrl))
  table.add("limits in a store: p50 more, one connection", latency.ours.p50 - latency.bare.p50, "ms", { atMost: 1 })
  shared.child.kill("SIGKILL")
  await redis.stop()
}

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
table.add(
  "/health beside 64 stalled calls, slowest of 50",
  await slowest(() => fetch(`http://127.0.0.1:${port}/health`)),
  "ms",
  { atMost: 50 },
)
table.add("send beside 64 stalled calls, slowest of 50", await slowest(() => post("send", { transaction })), "ms", {
  atMost: 50,
})
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
table.add("structure checks, 1,232 bytes", await timeOf(2000, structure), "ms", { atMost: 0.15 })
const whole = (): unknown => checkSigned(decodeBase64(transaction, "transaction", 1232), "structure")
table.add("the same with the derived signature", await timeOf(2000, whole), "ms", { atMost: 0.15 })

// The script runs with --expose-gc, so that garbage is not counted.
globalThis.gc?.()
const before = process.memoryUsage()
const limiter = createLimiter({ now: () => 0 })
for (let i = 0; i < 100_000; i++)
  limiter.take("send", `2001:db8:${(i >> 16).toString(16)}:${(i & 0xffff).toString(16)}/64`, 60)
globalThis.gc?.()
const after = process.memoryUsage()
const used = (after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 1e6
table.add(`${limiter.size()} rate buckets`, used, "MB", { atMost: 50 })

console.log(table.text())
if (!table.met()) process.exitCode = 1
process.exit()
