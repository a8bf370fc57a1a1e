// The local stream's times: from a transfer's confirmation to its record at a subscriber, and a thousand subscribers at once.
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { createSolanaRpc, signature as toSignature } from "@solana/kit"
import { createPlatform, createRelay, createSession, createStream } from "@svc/client"
import { createBenchmarkTable, median, startProcess } from "@svc/testing"
import { WebSocket } from "ws"
import { startInstance } from "../scripts/running/instance.ts"
import { residentMb } from "./ground.ts"
import { createWallet } from "@svc/testing/wallet"

const transfers = Number(process.env["SVC_BENCH_ROUNDS"] ?? 50)
const connections = 1_000
const changes = 10
const instance = await startInstance()
const table = createBenchmarkTable()
try {
  const { api_key: key } = await createPlatform({ apiUrl: instance.apiUrl }).signUp()
  const platform = createPlatform({ apiUrl: instance.apiUrl, key })
  const rpc = createSolanaRpc(instance.chainUrl)
  const wallet = await createWallet(instance.chainUrl)
  await wallet.fund(900_000_000_000n)

  const websocketUrl = `${instance.streamUrl}/transfers`
  const scope = ["read", "transaction:inspect", "transaction:send"]
  const session = createSession({ platform, websocketUrl, scope })
  const relay = createRelay({ relayUrl: instance.relayUrl, session })
  const arrived = new Map<string, number>()
  const leaving = new AbortController()
  const watching = (async () => {
    const stream = createStream({ websocketUrl, session, webSocket: WebSocket })
    for await (const { records, change } of stream.watch("SolTransfer/latest", { signal: leaving.signal })) {
      const keys = change.op === "snapshot" ? [...records.keys()] : [change.key]
      for (const one of keys) if (!arrived.has(one)) arrived.set(one, performance.now())
    }
  })()
  const confirmed = async (signature: string): Promise<number> => {
    for (;;) {
      const { value } = await rpc.getSignatureStatuses([toSignature(signature)]).send()
      if (value[0]?.confirmationStatus === "confirmed" || value[0]?.confirmationStatus === "finalized")
        return performance.now()
      await pause(5)
    }
  }
  const waits: number[] = []
  for (let sent = 0; sent < transfers; sent++) {
    const { wire, signature } = await wallet.signTransfer(1_000_000n + BigInt(sent), await relay.latestBlockhash())
    await relay.send({ transaction: wire })
    const from = await confirmed(signature)
    while (!arrived.has(signature)) await pause(5)
    waits.push(Math.max(0, (arrived.get(signature) ?? 0) - from))
    await pause(37 * (sent % 11))
  }
  leaving.abort()
  await watching
  table.add("confirmation to record, median", median(waits), "ms", { atMost: 700 })
  table.add("the slowest", Math.max(...waits), "ms", { atMost: 1_500 })

  // The stream has its own process, so its memory can be measured.
  const root = join(import.meta.dirname, "..")
  const env = { PORT: "0", RPC_URL: instance.chainUrl, SVC_API_URL: instance.apiUrl }
  const stream = startProcess(process.execPath, ["src/main.ts"], { cwd: join(root, "packages/local-stream"), env })
  const [, port] = await stream.waitFor(/"port":(\d+)/)
  await stream.waitFor(/serving a stack.*transfers|transfers.*serving a stack/)
  const url = `ws://127.0.0.1:${port}/transfers`
  const token = await createSession({ platform, websocketUrl, scope: "read" }).token()
  const seen = new Map<string, number[]>()
  const sockets: WebSocket[] = []
  for (let begun = 0; begun < connections; begun += 50) {
    const some = Array.from({ length: 50 }, () => new WebSocket(url, { headers: { authorization: `Bearer ${token}` } }))
    sockets.push(...some)
    await Promise.all(
      some.map(
        (socket) =>
          new Promise<void>((resolve, reject) => {
            socket.on("error", reject)
            socket.on("open", () => socket.send('{"type":"subscribe","view":"SolTransfer/latest","take":20}'))
            socket.on("message", (data: Buffer) => {
              const message = JSON.parse(data.toString())
              if (message.op === "snapshot") resolve()
              if (message.op === "upsert") seen.set(message.key, [...(seen.get(message.key) ?? []), performance.now()])
            })
          }),
      ),
    )
  }
  const slowest: number[] = []
  for (let turn = 0; turn < changes; turn++) {
    const { wire, signature } = await wallet.signTransfer(5_000_000n + BigInt(turn), await relay.latestBlockhash())
    await relay.send({ transaction: wire })
    while ((seen.get(signature)?.length ?? 0) < connections) await pause(20)
    const times = seen.get(signature) ?? []
    slowest.push(Math.max(...times) - Math.min(...times))
  }
  table.add(`${connections} connections: from the first to the last who has a change`, Math.max(...slowest), "ms", {
    atMost: 1_000,
  })
  table.add("the same: resident memory", residentMb(stream.pid), "MB", { atMost: 250 })
  for (const socket of sockets) socket.terminate()
  stream.kill("SIGTERM")
  await stream.exited
} finally {
  await instance.stop()
}
console.log(table.text())
if (!table.met()) process.exitCode = 1
