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

test("only the derived signature is an acceptance", () => {
  expect(judge({ kind: "result", result: signature }).state).toBe("accepted")
  for (const result of [null, "", `${signature} `, signature.toLowerCase(), [signature], { signature }, 1]) {
    expect(judge({ kind: "result", result })).toMatchObject({
      state: "unknown",
      code: "submission_unknown",
      status: 502,
    })
  }
})

test("JSON-RPC errors that come before a node hands a transaction on prove that it was not submitted", () => {
  const proving = [-32700, -32600, -32601, -32602, -32002, -32003, -32005, -32006, -32013, -32015, -32016]
  for (const code of proving) {
    expect(judge(rpc(code))).toMatchObject({
      state: "rejected",
      code: "upstream_rpc_error",
      status: 502,
      retryable: code === -32005 || code === -32016,
    })
  }
  for (const code of [-32603, -32004, -32007, -32014, -32000, 429, 0, 1, -1]) {
    const judged = judge(rpc(code))
    expect(judged).toMatchObject({ state: "unknown", code: "submission_unknown", status: 502, retryable: false })
    expect(judged.error).toMatchObject({ details: { code }, extra: { submissionState: "unknown", signature } })
  }
})

test("a preflight that finds the transaction processed already leaves its fate open", () => {
  for (const answer of [
    rpc(-32002, { err: "AlreadyProcessed" }),
    rpc(-32002, undefined, "Transaction simulation failed: This transaction has already been processed"),
    rpc(-32002, { err: { deep: ["AlreadyProcessed"] } }),
  ]) {
    expect(judge(answer)).toMatchObject({ state: "unknown", code: "submission_unknown" })
  }
  expect(judge(rpc(-32002, { err: "BlockhashNotFound" }))).toMatchObject({ state: "rejected" })
})

test("statuses of the provider's front door prove it, all others leave it open", () => {
  for (const status of [401, 403, 404, 405, 413, 415, 429]) {
    const expected = { state: "rejected", code: "upstream_unavailable", status: 502, retryable: status === 429 }
    expect(judge({ kind: "http-error", status })).toMatchObject(expected)
  }
  for (const status of [199, 300, 301, 307, 308, 400, 402, 406, 408, 409, 410, 418, 500, 502, 503, 504, 520]) {
    expect(judge({ kind: "http-error", status })).toMatchObject({ state: "unknown", status: 502 })
  }
})

test("what never left is not submitted; what left and got no answer is open, with 504 for our own timeout", () => {
  for (const kind of ["transport-error", "timeout"] as const) {
    const expected = { state: "rejected", code: "upstream_unavailable", status: 502, retryable: true }
    expect(judge({ kind, started: false })).toMatchObject(expected)
  }
  expect(judge({ kind: "transport-error", started: true })).toMatchObject({ state: "unknown", status: 502 })
  expect(judge({ kind: "timeout", started: true })).toMatchObject({ state: "unknown", status: 504 })
  expect(judge({ kind: "malformed" })).toMatchObject({ state: "unknown", status: 502 })
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
