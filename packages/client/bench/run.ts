// What `submit` costs on top of the bare send, `submitOnce` on top of `submit`, and how large the library is. Taken in turns, in one run.
import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { createBenchmarkTable } from "@svc/testing"
import { bundle } from "../scripts/bundle.ts"
import { createJournal, createRelay, submit, type SubmitOnceOptions } from "../src/index.ts"
import { fileStore } from "../src/node.ts"
import { readPayment } from "../src/journal/payment.ts"
import { signedMemo } from "../test/transactions.ts"

const rounds = Number(process.env["SVC_BENCH_ROUNDS"] ?? 2000)
const { base64: transaction, signature } = await signedMemo(0, "x".repeat(800))
const { blockhash } = await readPayment(transaction)

/** A relay that takes everything at once, and has it confirmed when it is asked. */
const answers: Readonly<Record<string, string>> = {
  "/transactions/v1/send": JSON.stringify({ signature }),
  "/transactions/v1/signature-status": JSON.stringify({
    status: { slot: "312", confirmations: "1", confirmationStatus: "confirmed", err: null },
    contextSlot: "330",
  }),
  "/transactions/v1/latest-blockhash": JSON.stringify({ blockhash, contextSlot: "330", lastValidBlockHeight: "460" }),
  "/transactions/v1/simulate": JSON.stringify({
    contextSlot: "330",
    err: null,
    logs: null,
    unitsConsumed: null,
    loadedAccountsDataSize: null,
    returnData: null,
    innerInstructions: null,
    accounts: null,
    replacementBlockhash: null,
  }),
}
const server = createServer((request, response) => {
  request.resume().once("end", () => {
    response.setHeader("content-type", "application/json").end(answers[request.url ?? ""])
  })
})
await once(server.listen(0, "127.0.0.1"), "listening")
const relayUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const relay = createRelay({ relayUrl, session: { token: async () => "token" } })

const bare = async (): Promise<number> => {
  const from = performance.now()
  const response = await fetch(`${relayUrl}/transactions/v1/send`, {
    method: "POST",
    headers: { authorization: "Bearer token", "content-type": "application/json" },
    body: JSON.stringify({ transaction }),
  })
  await response.json()
  return performance.now() - from
}

/** The time until the relay has taken the transaction; the rest is the chain's. */
const untilTaken = async (run: (options: Pick<SubmitOnceOptions, "signal" | "onStep">) => unknown): Promise<number> => {
  const from = performance.now()
  let until = from
  const leaving = new AbortController()
  await run({
    signal: leaving.signal,
    onStep: ({ step }) => {
      if (step !== "accepted") return
      until = performance.now()
      leaving.abort()
    },
  })
  return until - from
}

const submitted = () =>
  untilTaken((options) =>
    submit(relay, { ...options, transaction, lastValidBlockHeight: 460n, before: async () => {} }),
  )

const folder = await mkdtemp(join(tmpdir(), "svc-client-bench-"))
const journal = createJournal({ relay, store: fileStore(join(folder, "payments")) })
let payments = 0
const submittedOnce = () =>
  untilTaken((options) => journal.submitOnce(`payment-${payments++}`, () => transaction, options))

const times: Readonly<Record<"bare" | "submitted" | "once", number[]>> = { bare: [], submitted: [], once: [] }
for (let round = -200; round < rounds; round++) {
  const [first, second, third] = [await bare(), await submitted(), await submittedOnce()]
  if (round < 0) continue
  times.bare.push(first)
  times.submitted.push(second)
  times.once.push(third)
}
server.close()
server.closeAllConnections()

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN

const table = createBenchmarkTable()
table.add("bare send, median", quantile(times.bare, 0.5), "ms")
const added = quantile(times.submitted, 0.5) - quantile(times.bare, 0.5)
table.add("submit on top of it, until it is taken, median", added, "ms", { atMost: 1 })
const late = quantile(times.submitted, 0.95) - quantile(times.bare, 0.95)
table.add("the same, 95 of 100", late, "ms")
const journaled = quantile(times.once, 0.5) - quantile(times.submitted, 0.5)
table.add("submitOnce on top of submit, with a journal on this disk, median", journaled, "ms", { atMost: 3 })

await bundle(folder, { minify: true })
const size = gzipSync(await readFile(join(folder, "svc-client.js")), { level: 9 }).length
const nodeSize = gzipSync(await readFile(join(folder, "node.js")), { level: 9 }).length
await rm(folder, { recursive: true })
table.add("svc-client, minified and gzipped", size / 1000, "kB", { atMost: 12 })
table.add("svc-client/node, the same", nodeSize / 1000, "kB", { atMost: 3 })

console.log(table.text())
if (!table.met()) process.exitCode = 1
