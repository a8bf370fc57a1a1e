// Measures the relay against a bare pass-through, in one run on one machine: only the ratios mean something elsewhere.
import { createLimiter } from "@svc/limiter"
import { compareLoads, createBenchmarkTable, load, startProcess } from "@svc/testing"
import { checkSigned, checkTransaction, decodeBase64 } from "../src/wire.ts"
import { transactionOfSize } from "../test/transactions.ts"
import { file, headers, options, portOf, provider, providerUrl, startRelay } from "./parts.ts"

const table = createBenchmarkTable()
const passThrough = startProcess(process.execPath, [file("pass-through.ts"), providerUrl])
const passThroughUrl = `http://127.0.0.1:${await portOf(passThrough)}/`
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
