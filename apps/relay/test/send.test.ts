import fc from "fast-check"
import { expect, test } from "vitest"
import { judgeSend } from "../src/send.ts"
import type { UpstreamAnswer } from "../src/upstream/upstream.ts"
import { createRedact } from "../src/upstream/errors.ts"

const signature = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQkjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
const plain = (text: string) => text
const judge = (answer: UpstreamAnswer) => {
  const outcome = judgeSend(answer, signature, plain)
  const error = outcome.state === "accepted" ? undefined : outcome.error
  return { state: outcome.state, code: error?.code, status: error?.status, retryable: error?.retryable, error }
}
const rpc = (code: number, data?: unknown, message = "m"): UpstreamAnswer => ({
  kind: "rpc-error",
  status: 200,
  code,
  message,
  data,
})

const unknown = { state: "unknown", code: "submission_unknown", status: 502, retryable: false }
const rejected = { state: "rejected", status: 502 }
const refused = { ...rejected, code: "upstream_rpc_error" }
const unavailable = { ...rejected, code: "upstream_unavailable" }
const statusOf = (status: number): UpstreamAnswer => ({ kind: "http-error", status })

const judged: readonly (readonly [string, readonly UpstreamAnswer[], object])[] = [
  ["the derived signature is an acceptance", [{ kind: "result", result: signature }], { state: "accepted" }],
  [
    "no other result is",
    [null, "", `${signature} `, signature.toLowerCase(), [signature], { signature }, 1].map((result) => ({
      kind: "result",
      result,
    })),
    unknown,
  ],
  [
    "errors that come before a node hands a transaction on prove that it was not submitted",
    [-32700, -32600, -32601, -32602, -32002, -32003, -32006, -32013, -32015].map((code) => rpc(code)),
    { ...refused, retryable: false },
  ],
  ["of these two can pass by themselves", [-32005, -32016].map((code) => rpc(code)), { ...refused, retryable: true }],
  [
    "all other errors leave it open",
    [-32603, -32004, -32007, -32014, -32000, 429, 0, 1, -1].map((code) => rpc(code)),
    { ...unknown, error: { details: { code: expect.any(Number) as number } } },
  ],
  [
    "a preflight that finds the transaction processed already leaves its fate open",
    [
      rpc(-32002, { err: "AlreadyProcessed" }),
      rpc(-32002, undefined, "Transaction simulation failed: This transaction has already been processed"),
      rpc(-32002, { err: { deep: ["AlreadyProcessed"] } }),
    ],
    unknown,
  ],
  ["any other preflight is a proof", [rpc(-32002, { err: "BlockhashNotFound" })], refused],
  ["statuses of the provider's front door prove it", [401, 403, 404, 405, 413, 415].map(statusOf), unavailable],
  ["one of them can pass by itself", [statusOf(429)], { ...unavailable, retryable: true }],
  [
    "all other statuses leave it open",
    [199, 300, 301, 307, 308, 400, 402, 406, 408, 409, 410, 418, 500, 502, 503, 504, 520].map(statusOf),
    unknown,
  ],
  [
    "what never left is not submitted",
    [
      { kind: "transport-error", started: false },
      { kind: "timeout", started: false },
    ],
    { ...unavailable, retryable: true },
  ],
  ["what left and got no answer is open", [{ kind: "transport-error", started: true }, { kind: "malformed" }], unknown],
  ["our own timeout is a 504", [{ kind: "timeout", started: true }], { ...unknown, status: 504 }],
]

test.each(judged)("%s", (_, answers, expected) => {
  for (const answer of answers) expect(judge(answer)).toMatchObject(expected)
})

test("every unknown outcome carries the signature, and nothing but a proof is a rejection", () => {
  const anything = fc.oneof(
    fc.record({ kind: fc.constant("result" as const), result: fc.anything() }),
    fc.record({
      kind: fc.constant("rpc-error" as const),
      status: fc.constant(200),
      code: fc.integer({ min: -33000, max: 600 }),
      message: fc.string(),
      data: fc.jsonValue(),
    }),
    fc.record({ kind: fc.constant("http-error" as const), status: fc.integer({ min: 100, max: 599 }) }),
    fc.record({ kind: fc.constantFrom("transport-error" as const, "timeout" as const), started: fc.boolean() }),
  )
  const proofs = [401, 403, 404, 405, 413, 415, 429]
  fc.assert(
    fc.property(anything, (answer) => {
      const { state, error } = judge(answer)
      if (state === "unknown") expect(error?.extra).toEqual({ submissionState: "unknown", signature })
      if (state !== "rejected") return
      expect(error?.extra).toEqual({})
      if ("started" in answer) expect(answer.started).toBe(false)
      else if (answer.kind === "http-error") expect(proofs).toContain(answer.status)
      else expect(answer.kind).toBe("rpc-error")
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
  const { error } = judge(rpc(-32002, data, "é".repeat(300)))
  expect(error?.details).toEqual({
    code: -32002,
    message: "é".repeat(256),
    data: { err: data.err, logs: ["a"], unitsConsumed: "150" },
  })
})

test("a provider's text never tells where or with which key it is reached", () => {
  const redact = createRedact("https://user:hunter22@rpc.example.org:8443/v2/abcdef123456?api-key=s3cr3t-k%65y&x=1")
  const text =
    "https://rpc.example.org:8443/v2/abcdef123456?api-key=s3cr3t-key user hunter22 rpc.example.org s3cr3t-key abcdef123456"
  expect(redact(text)).not.toMatch(/hunter22|rpc\.example|s3cr3t|abcdef123456|user/)
  expect(redact("Blockhash not found")).toBe("Blockhash not found")
  expect(redact("see http://other.example/x for more")).toBe("see [redacted] for more")
})

// Programs choose what they log: with a look at every letter this took minutes.
test("a provider's text of one long word is read in one pass", () => {
  const word = "a".repeat(200_000)
  expect(createRedact("https://rpc.example.org")(`${word} ${word}://x`)).toBe(`${word} [redacted]`)
})
