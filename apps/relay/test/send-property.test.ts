import { randomBytes } from "node:crypto"
import { getBase58Decoder } from "@solana/kit"
import { postJson } from "@svc/testing"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { UsageEvent } from "../src/usage/usage.ts"
import { http, raw, result, rpcError, type Script } from "./fake-rpc.ts"
import { fileRelay, fileRpc } from "./fixture.ts"
import { anyTransaction } from "./transactions.ts"

const records: UsageEvent[] = []
const rpc = fileRpc()
const relay = fileRelay(rpc, {
  env: { SVC_TRANSACTION_SEND_TIMEOUT_MS: "40", SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: "100000" },
  usage: { record: (event) => records.push(event), flush: () => Promise.resolve() },
})
const template = Buffer.from(await anyTransaction(), "base64")

const idOf = (transaction: string): string =>
  getBase58Decoder().decode(Buffer.from(transaction, "base64").subarray(1, 65))
const accepted: Script = (r) => result(r, `"${idOf(String(r.params[0]))}"`)
const failing =
  (code: number, status = 200): Script =>
  (r) =>
    rpcError(r, { code }, status)

const whole = http(200, "x".repeat(200))
const cut =
  (length: number, after: "end" | "reset" | "stall"): Script =>
  () => ({ write: whole.subarray(0, length), after })

/** What a provider may do, by what its response proves. */
const behaviours: Readonly<Record<"accepted" | "nothing" | "not submitted", readonly Script[]>> = {
  accepted: [accepted, (r) => ({ ...accepted(r), after: "reset" })],
  nothing: [
    (r) => result(r, '"1111"'),
    (r) => ({ ...result(r, '"1111"'), after: "reset" }),
    (r) => result(r, "null"),
    ({ id }) => raw(`{"jsonrpc":"2.0","id":${id + 1},"result":"x"}`),
    ({ id }) => raw(`{"jsonrpc":"2.0","id":${id},"result":"x","error":{"code":-32002}}`),
    ({ id }) => raw(`{"jsonrpc":"2.0","id":${id}}`),
    () => raw("<html>"),
    (r) => result(r, `"${"a".repeat(70_000)}"`),
    () => ({ write: http(308, "", { location: rpc.url }), after: "keep" }),
    () => ({ after: "stall" }),
    cut(100, "stall"),
    cut(100, "end"),
    cut(20, "reset"),
    () => ({ after: "reset" }),
    () => ({ after: "end" }),
    () => ({ write: "hello\r\n\r\n", after: "end" }),
    ...[400, 402, 408, 409, 500, 502, 503, 504].map((status) => () => raw("no", status)),
    ...[-32000, -32603, -32004, -32014, 500].map((code) => failing(code)),
    (r) => rpcError(r, { code: -32002, data: { err: "AlreadyProcessed" } }),
    (r) => rpcError(r, { code: -32602, message: "duplicate transaction" }),
  ],
  "not submitted": [
    ...[401, 403, 404, 405, 413, 415, 429].map((status) => () => raw("no", status)),
    ...[-32602, -32002, -32003, -32005, -32016].flatMap((code) =>
      [200, 400, 429, 500].map((status) => failing(code, status)),
    ),
    failing(-32099, 429),
  ],
}
const anyBehaviour = fc.constantFrom(
  ...Object.entries(behaviours).flatMap(([proves, scripts]) => scripts.map((script) => ({ proves, script }))),
)

const scenario = fc.record({
  behaviour: anyBehaviour,
  connect: fc.oneof({ weight: 5, arbitrary: fc.constant("serve" as const) }, fc.constant("reset" as const)),
  /** Kept connections die before the send, unknown to the relay. */
  cutBefore: fc.boolean(),
  client: fc.constantFrom("stays", "leaves early", "leaves when the provider has it"),
})

const sent: string[] = []
// A transaction is identified by its signature, which is searched in all bytes that arrived.
const timesGiven = (transaction: string): number => rpc.seen().split(transaction.slice(4, 60)).length - 1

test("with any provider, network and client: sent at most once, and not_submitted only if proven", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ behaviour, connect, cutBefore, client }) => {
      randomBytes(64).copy(template, 1)
      const transaction = template.toString("base64")
      sent.push(transaction)
      rpc.onConnect(connect)
      rpc.script(behaviour.script)
      if (cutBefore) rpc.cut()
      rpc.requests.length = 0
      records.length = 0

      const leaving = new AbortController()
      const answer = postJson(`${relay.url}/transactions/v1/send`, { transaction }, {}, leaving.signal).then(
        async (response) => ({ status: response.status, body: (await response.json()) as Record<string, unknown> }),
        () => undefined,
      )
      if (client === "leaves early") leaving.abort()
      if (client === "leaves when the provider has it") {
        await Promise.race([rpc.received(1), answer])
        leaving.abort()
      }
      const got = await answer
      if (got === undefined) await relay.app.idle()

      const given = timesGiven(transaction)
      expect(given).toBeLessThanOrEqual(1)
      if (got === undefined) return
      // A request whose client left at once may arrive only now.
      const results = records.map((record) => record.result)
      if (got.status === 200) {
        expect(behaviour.proves).toBe("accepted")
        expect(got.body).toEqual({ signature: idOf(transaction) })
        expect(results).toContain("accepted")
        return
      }
      const { submissionState, signature } = got.body
      if (submissionState === "unknown") {
        expect(signature).toMatch(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/)
        expect(results).toContain("unknown")
      } else {
        expect(submissionState).toBe("not_submitted")
        expect(given === 0 || behaviour.proves === "not submitted").toBe(true)
        expect(results).toContain("rejected")
      }
    }),
    { numRuns: 300 },
  )
  // Once more at the end, for requests that continued after their client had left.
  await relay.app.idle()
  for (const transaction of sent) expect(timesGiven(transaction)).toBeLessThanOrEqual(1)
})
