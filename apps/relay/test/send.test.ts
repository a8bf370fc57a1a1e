import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { judgeSend } from "../src/send.ts"
import { createRedact } from "../src/upstream/errors.ts"
import type { UpstreamResponse } from "../src/upstream/upstream.ts"
import { type FakeRpc, http, startFakeRpc } from "./fake-rpc.ts"
import { type Relay, startRelay } from "./fixture.ts"
import { copyTexts, families } from "./provider-responses.ts"
import { memo } from "@svc/testing/solana"
import { anySigner, signedTransaction } from "./transactions.ts"

const signature = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQkjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
const judge = (answer: UpstreamResponse) => {
  const outcome = judgeSend(answer, signature, (text) => text)
  const error = outcome.state === "accepted" ? undefined : outcome.error
  return { state: outcome.state, code: error?.code, status: error?.status, retryable: error?.retryable, error }
}
const rpc = (code: number, message = "", data?: unknown, more: object = {}): UpstreamResponse => {
  const error = { code, message, ...(data !== undefined && { data }), ...more }
  return { kind: "rpc-error", status: 200, code, message, data, body: { jsonrpc: "2.0", id: 1, error } }
}

describe("the responses of real providers", () => {
  let provider: FakeRpc
  let relay: Relay
  let transaction: string
  beforeAll(async () => {
    provider = await startFakeRpc()
    relay = await startRelay(provider.url, { env: { SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: "100000" } })
    transaction = await signedTransaction(await anySigner(), [memo(new Uint8Array(3))])
  })
  afterAll(async () => {
    await relay.close()
    await provider.close()
  })

  test("there are at least 80, of at least 20 families", () => {
    expect(Object.values(families).flat().length).toBeGreaterThanOrEqual(80)
    expect(Object.keys(families).length).toBeGreaterThanOrEqual(20)
  })

  test.each(Object.entries(families))("%s: each response proves what its row says, no more", async (_, rows) => {
    for (const [status, body, proves, why, headers] of rows) {
      provider.script(({ id }) => {
        const text =
          typeof body === "string"
            ? body.replaceAll("ID", String(id))
            : JSON.stringify({ jsonrpc: "2.0", error: body, id })
        return { write: http(status, text, headers), after: "keep" }
      })
      const { body: error } = await relay.post("send", { transaction })
      const proven = `${String(error.submissionState)}${error.retryable === true ? ", retryable" : ""}`
      expect([proven, body]).toEqual([proves, body])
      expect(why).not.toBe("")
    }
  })
})

const listed = [-32700, -32600, -32601, -32602, -32002, -32003, -32005, -32006, -32013, -32015, -32016]

test("a listed code proves that the transaction wasn't submitted; of them -32005 and -32016 can be retried", () => {
  for (const code of listed) {
    const retryable = code === -32005 || code === -32016
    expect(judge(rpc(code))).toMatchObject({ state: "not_submitted", code: "upstream_rpc_error", retryable })
  }
})

test("a listed code proves nothing with a text about an earlier copy, in any wording and language, at any place and in any form", () => {
  const forms: ((text: string) => string)[] = [
    (text) => text,
    (text) => text.toUpperCase(),
    (text) => text.replaceAll(" ", "_"),
    (text) => `Transaction simulation failed: ${text}`,
    (text) => `${text} (slot 12)`,
  ]
  const encoded: ((text: string) => unknown)[] = [
    (text) => Buffer.from(text).toString("base64"),
    (text) => JSON.stringify({ err: text }),
    (text) => [Buffer.from(text).toString("base64"), "base64"],
  ]
  const places: ((text: string, value: unknown) => [message: string, data?: unknown, more?: object])[] = [
    (text) => [text],
    (_, value) => ["Invalid params", value],
    (_, value) => ["Transaction simulation failed", { err: value }],
    (_, value) => ["Transaction simulation failed", { err: { InstructionError: [0, value] }, logs: [] }],
    (text) => ["Transaction simulation failed", { err: null, logs: [text] }],
    (text) => ["Transaction simulation failed", { err: null, logs: [`Program log: ${text}`] }],
    (text) => ["Transaction simulation failed", { err: null, logs: [`Program log: Error: ${text}.`, "Log truncated"] }],
    (text) => ["Transaction simulation failed", { [text]: true }],
    (_, value) => ["Transaction simulation failed", { returnData: { data: value } }],
    (_, value) => ["", { a: [{ b: [{ reason: value }] }] }],
    (_, value) => ["", undefined, { details: value }],
  ]
  fc.assert(
    fc.property(
      fc.constantFrom(...listed),
      fc.constantFrom(...copyTexts),
      fc.constantFrom(...forms),
      fc.constantFrom(...places),
      fc.option(fc.constantFrom(...encoded), { nil: undefined, freq: 3 }),
      (code, text, form, place, encode) => {
        const said = form(text)
        const [message, data, more] = place(said, encode?.(said) ?? said)
        expect([judge(rpc(code, message, data, more)).state, said, place]).toEqual(["unknown", said, place])
      },
    ),
    { numRuns: 3000 },
  )
})

test("a listed code proves nothing with words or a nesting that the table can't read, or with the signature", () => {
  const deep = (depth: number): unknown => (depth === 0 ? 1 : [deep(depth - 1)])
  for (const answer of [
    rpc(-32602, "gobbledygook"),
    rpc(-32602, "Transaction failed"),
    rpc(-32002, "", deep(13)),
    rpc(-32602, "", signature),
    rpc(-32602, "", { logs: [{ message: "" }] }),
    rpc(-32602, "Nope ✗"),
  ])
    expect(judge(answer)).toMatchObject({ state: "unknown", code: "submission_unknown", retryable: false })
  expect(judge(rpc(-32002, "", deep(9))).state).toBe("not_submitted")
})

const open = { state: "unknown", code: "submission_unknown", status: 502, retryable: false }
const statusOf = (status: number): UpstreamResponse => ({ kind: "http-error", status })

const judged: readonly (readonly [string, readonly UpstreamResponse[], object])[] = [
  [
    "the derived signature means that the provider accepted it",
    [{ kind: "result", result: signature }],
    { state: "accepted" },
  ],
  [
    "no other result does",
    [null, "", `${signature} `, signature.toLowerCase(), [signature], { signature }, 1].map((result) => ({
      kind: "result",
      result,
    })),
    open,
  ],
  [
    "other codes prove nothing, and their error is in the details",
    [-32603, -32004, -32007, -32014, -32000, -32429, 429, 0, 1, -1].map((code) => rpc(code)),
    { ...open, error: { details: { code: expect.any(Number) as number } } },
  ],
  [
    "other statuses prove nothing",
    [199, 300, 301, 307, 308, 400, 402, 406, 408, 409, 410, 418, 500, 502, 503, 504, 520].map(statusOf),
    open,
  ],
  [
    "a request that never left is not submitted",
    [
      { kind: "transport-error", started: false },
      { kind: "timeout", started: false },
    ],
    { state: "not_submitted", status: 502, code: "upstream_unavailable", retryable: true },
  ],
  [
    "one that left without a response is unknown",
    [{ kind: "transport-error", started: true }, { kind: "malformed" }],
    open,
  ],
  ["the relay's own timeout is a 504", [{ kind: "timeout", started: true }], { ...open, status: 504 }],
]

test.each(judged)("%s", (_, answers, expected) => {
  for (const answer of answers) expect(judge(answer)).toMatchObject(expected)
})

test("nothing but a proof is not_submitted, whatever a provider returns", () => {
  const anything = fc.oneof(
    fc.record({ kind: fc.constant("result" as const), result: fc.anything() }),
    fc
      .tuple(fc.integer({ min: -33000, max: 600 }), fc.string({ minLength: 1 }), fc.jsonValue())
      .map(([code, message, data]) => rpc(code, message, data)),
    fc.record({ kind: fc.constant("http-error" as const), status: fc.integer({ min: 100, max: 599 }) }),
    fc.record({ kind: fc.constantFrom("transport-error" as const, "timeout" as const), started: fc.boolean() }),
  )
  fc.assert(
    fc.property(anything, (answer) => {
      if (judge(answer).state !== "not_submitted") return
      if ("started" in answer) expect(answer.started).toBe(false)
      else if (answer.kind === "http-error") expect([401, 403, 404, 405, 413, 415, 429]).toContain(answer.status)
      else expect(answer.kind === "rpc-error" && listed.includes(answer.code)).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

test("details show of a provider's error its code, 256 characters, and the preflight's allowed members", () => {
  const data = {
    err: { InstructionError: [0, { Custom: 1 }] },
    logs: ["a"],
    unitsConsumed: 150,
    accounts: ["x"],
    key: "k",
  }
  const { error } = judge(rpc(-32002, "é".repeat(300), data))
  expect(error?.details).toEqual({
    code: -32002,
    message: "é".repeat(256),
    data: { err: data.err, logs: ["a"], unitsConsumed: "150" },
  })
})

test("a provider's text never shows its address or key", () => {
  const redact = createRedact("https://user:hunter22@rpc.example.org:8443/v2/abcdef123456?api-key=s3cr3t-k%65y&x=1")
  const text =
    "https://rpc.example.org:8443/v2/abcdef123456?api-key=s3cr3t-key user hunter22 rpc.example.org s3cr3t-key abcdef123456"
  expect(redact(text)).not.toMatch(/hunter22|rpc\.example|s3cr3t|abcdef123456|user/)
  expect(redact("Blockhash not found")).toBe("Blockhash not found")
  expect(redact("see http://other.example/x for more")).toBe("see [redacted] for more")
})

// Programs choose their logs. A search from every letter takes minutes.
test("a provider's text of one long word is redacted and judged in one pass", () => {
  const word = "a".repeat(200_000)
  expect(createRedact("https://rpc.example.org")(`${word} ${word}://x`)).toBe(`${word} [redacted]`)
  expect(judge(rpc(-32002, word, { logs: [`Program log: ${word}`] })).state).toBe("unknown")
})
