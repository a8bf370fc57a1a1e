import { AccountRole, type Instruction } from "@solana/kit"
import { anyCharacter } from "@svc/testing"
import { call, littleEndian, signTransaction, systemProgram, transfer } from "@svc/testing/solana"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { createRedact, judgeSend, type Sent } from "../src/upstream/proof.ts"
import type { UpstreamResponse } from "../src/upstream/upstream.ts"
import { hasNonce } from "../src/wire.ts"
import { http } from "./fake-rpc.ts"
import { fileRelay, fileRpc } from "./fixture.ts"
import { copyTexts, families } from "./provider-responses.ts"
import { anySigner, anyTransaction } from "./transactions.ts"

const signature = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQkjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
const judge = (answer: UpstreamResponse) => {
  const outcome = judgeSend(answer, { signature, hasNonce: () => false }, (text) => text)
  const error = outcome.state === "accepted" ? undefined : outcome.error
  return { state: outcome.state, code: error?.code, status: error?.status, retryable: error?.retryable, error }
}
const rpc = (code: number, message = "", data?: unknown): UpstreamResponse => {
  const error = { code, message, ...(data !== undefined && { data }) }
  return { kind: "rpc-error", status: 200, code, message, data, body: { jsonrpc: "2.0", id: 1, error } }
}

describe("the responses of real providers", () => {
  const provider = fileRpc()
  const relay = fileRelay(provider, { env: { SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: "100000" } })

  test("there are at least 80, of at least 20 families", () => {
    expect(Object.values(families).flat().length).toBeGreaterThanOrEqual(80)
    expect(Object.keys(families).length).toBeGreaterThanOrEqual(20)
  })

  test.each(Object.entries(families))("%s: each response proves what its row says, no more", async (_, rows) => {
    const transaction = await anyTransaction()
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

test.each(["legacy", 0, 1] as const)(
  "of a durable nonce in a transaction of version %s, an unknown blockhash proves nothing: landing replaces it",
  async (version) => {
    const payer = await anySigner()
    const [nonce, hashes] = [await anySigner(), "SysvarRecentB1ockHashes11111111111111111111"]
    const { WRITABLE, READONLY, READONLY_SIGNER } = AccountRole
    const accounts = [
      [nonce.address, WRITABLE] as const,
      [hashes, READONLY] as const,
      [payer.address, READONLY_SIGNER] as const,
    ]
    const advance = call(systemProgram, littleEndian(4), ...accounts)
    const pay = transfer(payer.address, nonce.address, 1n)
    const sent = async (...instructions: Instruction[]) => {
      const { base64, ...id } = await signTransaction(payer, instructions, { version })
      return { ...id, hasNonce: () => hasNonce(Buffer.from(base64, "base64")) }
    }
    const states = (one: Sent) =>
      [
        rpc(-32002, "Transaction simulation failed: Blockhash not found", { err: "BlockhashNotFound", logs: [] }),
        rpc(-32002, "", { err: "BlockhashNotFound" }),
        rpc(-32002, "Transaction simulation failed: Blockhash not found"),
        rpc(-32002, "Transaction simulation failed"),
        rpc(-32602, "bundle contains an expired blockhash"),
        rpc(-32002, "", { err: "InsufficientFundsForFee" }),
        rpc(-32002, "Transaction simulation failed: Insufficient funds for fee"),
      ].map((answer) => judgeSend(answer, one, (text) => text).state)
    const [open, not] = ["unknown", "not_submitted"]
    expect(states(await sent(advance, pay))).toEqual([open, open, open, open, open, not, not])
    for (const instructions of [[pay, advance], [pay], [{ ...advance, data: littleEndian(5) }, pay]])
      expect(states(await sent(...instructions))).toEqual(Array.from({ length: 7 }, () => not))
  },
)

const listed = [-32700, -32600, -32601, -32602, -32002, -32003, -32005, -32006, -32013, -32015, -32016]

test("a listed code proves that this call submitted nothing, and says what an earlier one may have; of them -32005 and -32016 can be retried", () => {
  for (const code of listed) {
    const retryable = code === -32005 || code === -32016
    const hint = expect.stringContaining("If these bytes were sent before, look up their signature")
    expect(judge(rpc(code))).toMatchObject({
      state: "not_submitted",
      code: "upstream_rpc_error",
      retryable,
      error: { hint },
    })
  }
})

type Path = readonly (string | number)[]
const placesIn = (value: unknown, path: Path = []): Path[] =>
  typeof value !== "object" || value === null
    ? [path]
    : [
        path,
        ...Object.entries(value).flatMap(([key, member]) =>
          placesIn(member, [...path, Array.isArray(value) ? Number(key) : key]),
        ),
      ]
const changeAt = (value: unknown, [key, ...rest]: Path, change: (there: unknown) => unknown): unknown => {
  if (key === undefined) return change(value)
  if (Array.isArray(value))
    return value.map((item, index) => (index === key ? changeAt(item, rest, change) : (item as unknown)))
  const members = value as Record<string, unknown>
  return { ...members, [key]: changeAt(members[key], rest, change) }
}

test("a listed code proves nothing with any other text, in any wording and language, at any place and in any form", () => {
  const proven = Object.values(families)
    .flat()
    .filter(
      ([status, body, proves]) =>
        (status === 200 || status === 400) && typeof body === "object" && proves !== "unknown",
    )
    .map(([, body]) => body as { code: number; message: string; data?: unknown })
  const text = fc.oneof(
    fc.constantFrom(...copyTexts),
    fc.constantFrom(...copyTexts).map((said) => said.toUpperCase()),
    fc.constantFrom(...copyTexts).map((said) => said.replaceAll(" ", "_")),
    fc.constantFrom(...copyTexts).map((said) => `Program log: ${said}`),
    fc.constantFrom(...copyTexts).map((said) => `Program log: Error: ${said}.`),
    fc.constantFrom(...copyTexts).map((said) => `Transaction simulation failed: ${said}`),
    fc.constantFrom(...copyTexts).map((said) => `${said} (slot 12)`),
    fc.constantFrom(...copyTexts).map((said) => Buffer.from(said).toString("base64")),
    fc.constantFrom(...copyTexts).map((said) => `Program data: ${Buffer.from(said).toString("base64")}`),
    fc.string({ minLength: 4, unit: anyCharacter }).filter((said) => /[^\w+/=]/.test(said)),
  )
  const insert = (there: unknown, said: string, way: number): unknown => {
    if (Array.isArray(there))
      return way % 2 === 0 ? [said, ...(there as unknown[])] : [...(there as unknown[]), { said }]
    if (typeof there === "object" && there !== null)
      return way % 2 === 0 ? { ...there, [said]: null } : { ...there, note: said }
    if (typeof there !== "string" || /^[\w+/]+=*$/.test(there)) return said
    return [said, `${there} ${said}`, `${said} ${there}`, `${there}: ${said}`][way]
  }
  fc.assert(
    fc.property(fc.constantFrom(...proven), text, fc.nat(), fc.nat(3), (error, said, place, way) => {
      const body = { jsonrpc: "2.0", id: 1, error }
      const places = placesIn(body).filter(
        ([key, member]) => key === undefined || (key === "error" && member !== "code"),
      )
      const at = places[place % places.length] ?? []
      const changed = changeAt(body, at, (there) => insert(there, said, way)) as typeof body
      const { code, message, data } = changed.error
      const answer: UpstreamResponse = { kind: "rpc-error", status: 200, code, message, data, body: changed }
      expect([judge(answer).state, said, at]).toEqual(["unknown", said, at])
    }),
    { numRuns: 5000 },
  )
})

test("a listed code proves nothing with deep nesting or with the signature", () => {
  const deep: unknown = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`)
  for (const answer of [
    rpc(-32602, "Transaction failed"),
    rpc(-32002, "", { err: deep }),
    rpc(-32602, "", signature),
    rpc(-32002, "", { logs: [{ message: "" }] }),
  ])
    expect(judge(answer)).toMatchObject({ state: "unknown", code: "submission_unknown", retryable: false })
})

const open = { state: "unknown", code: "submission_unknown", status: 502, retryable: false }

const judged: readonly (readonly [string, readonly UpstreamResponse[], object])[] = [
  [
    "the derived signature means that the provider accepted it",
    [{ kind: "result", result: signature }],
    { state: "accepted" },
  ],
  [
    "other codes prove nothing, and their error is in the details",
    [-32603, -32004, -32007, -32014, -32000, -32429, 429, 0, 1, -1].map((code) => rpc(code)),
    { ...open, error: { details: { code: expect.any(Number) as number } } },
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
      const { state } = judge(answer)
      if (state === "accepted") expect(answer).toMatchObject({ result: signature })
      if (state !== "not_submitted") return
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
