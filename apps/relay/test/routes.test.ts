import { messageOf, unsigned } from "@svc/testing/solana"
import { beforeEach, expect, test } from "vitest"
import { raw, result } from "./fake-rpc.ts"
import { fileRelay, fileRpc } from "./fixture.ts"
import { anyTransaction, transactionOfSize } from "./transactions.ts"

const max = "18446744073709551615"
const signature = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQkjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
const program = "11111111111111111111111111111111"
const rpc = fileRpc()
const relay = fileRelay(rpc, { env: { SVC_TRANSACTION_INSPECT_REQUESTS_PER_MINUTE: "100000" } })
const wire = await anyTransaction()
beforeEach(() => {
  rpc.requests.length = 0
})

/** The upstream's parameters on the wire. */
const paramsText = (): string => /"params":(.*)\}$/s.exec(rpc.requests[0]?.text ?? "")?.[1] ?? ""

test("latest-blockhash: forwards commitment and an exact minContextSlot, and returns exact u64 strings", async () => {
  const value = `{"blockhash":"abc","lastValidBlockHeight":${max}}`
  rpc.script((r) => result(r, `{"context":{"apiVersion":"4","slot":9007199254740993},"value":${value}}`))
  const answer = await relay.post("latest-blockhash", { commitment: "finalized", minContextSlot: max })
  expect(answer).toMatchObject({
    status: 200,
    body: { blockhash: "abc", contextSlot: "9007199254740993", lastValidBlockHeight: max },
  })
  expect(answer.headers.get("x-svc-upstream-attempted")).toBe("true")
  expect(answer.headers.get("content-type")).toBe("application/json")
  expect(rpc.requests[0]?.method).toBe("getLatestBlockhash")
  expect(paramsText()).toBe(`[{"commitment":"finalized","minContextSlot":${max}}]`)
})

test("block-height: absent and null mean the defaults", async () => {
  rpc.script((r) => result(r, max))
  for (const body of [{}, { commitment: null, minContextSlot: null }]) {
    rpc.requests.length = 0
    expect((await relay.post("block-height", body)).body).toEqual({ blockHeight: max })
    expect(rpc.requests[0]?.method).toBe("getBlockHeight")
    expect(paramsText()).toBe('[{"commitment":"confirmed"}]')
  }
})

test("fee: forwards the message unchanged, and returns feeLamports even if it is null", async () => {
  const message = messageOf(wire)
  for (const [value, feeLamports] of [
    ["5000", "5000"],
    ["null", null],
  ] as const) {
    rpc.requests.length = 0
    rpc.script((r) => result(r, `{"context":{"slot":7},"value":${value}}`))
    const { body } = await relay.post("fee", { message, commitment: "processed", minContextSlot: "7" })
    expect(body).toEqual({ feeLamports, contextSlot: "7" })
    expect(rpc.requests[0]?.method).toBe("getFeeForMessage")
    expect(paramsText()).toBe(`["${message}",{"commitment":"processed","minContextSlot":7}]`)
  }
})

test("simulate: forwards every option, returns every count as a u64 string and the rest unchanged", async () => {
  const account = `{"lamports":${max},"owner":"o","data":["AA==","base64"],"executable":false,"rentEpoch":${max},"space":1,"x":1}`
  const value = `{
    "err":{"InstructionError":[0,{"Custom":4294967295}]},"logs":["Program log: 18446744073709551615"],
    "unitsConsumed":150,"loadedAccountsDataSize":${max},"returnData":{"programId":"p","data":["","base64"]},
    "innerInstructions":[{"index":0,"instructions":[{"programIdIndex":3,"accounts":[0,1],"data":"x","stackHeight":2,"big":${max}}]}],
    "accounts":[${account},null],"replacementBlockhash":{"blockhash":"b","lastValidBlockHeight":${max}},"other":1}`
  rpc.script((r) => result(r, `{"context":{"slot":${max}},"value":${value}}`))
  const transaction = unsigned(wire)
  const answer = await relay.post("simulate", {
    transaction,
    replaceRecentBlockhash: true,
    innerInstructions: true,
    accounts: { addresses: [program] },
    minContextSlot: "0",
  })
  expect(answer.text).toBe(
    `{"contextSlot":"${max}","err":{"InstructionError":[0,{"Custom":4294967295}]},` +
      `"logs":["Program log: 18446744073709551615"],"unitsConsumed":"150","loadedAccountsDataSize":"${max}",` +
      `"returnData":{"programId":"p","data":["","base64"]},` +
      `"innerInstructions":[{"index":0,"instructions":[{"programIdIndex":3,"accounts":[0,1],"data":"x","stackHeight":2,"big":${max}}]}],` +
      `"accounts":[{"lamports":"${max}","owner":"o","data":["AA==","base64"],"executable":false,"rentEpoch":"${max}","space":"1"},null],` +
      `"replacementBlockhash":{"blockhash":"b","lastValidBlockHeight":"${max}"}}`,
  )
  expect(rpc.requests[0]?.method).toBe("simulateTransaction")
  expect(rpc.requests[0]?.params).toEqual([
    transaction,
    {
      commitment: "confirmed",
      minContextSlot: 0,
      encoding: "base64",
      sigVerify: false,
      replaceRecentBlockhash: true,
      innerInstructions: true,
      accounts: { encoding: "base64", addresses: [program] },
    },
  ])
})

test("simulate: a gateway's unreadable rent epoch or size is omitted, and nothing else is lost", async () => {
  for (const value of ["18446744073709552000", "1.8446744073709552e+19", "null", '"18446744073709551615"', "-1"]) {
    const account = `{"lamports":1,"owner":"o","data":["","base64"],"executable":false,"rentEpoch":${value},"space":${value}}`
    rpc.script((r) => result(r, `{"context":{"slot":1},"value":{"err":null,"accounts":[${account}]}}`))
    const { body } = await relay.post("simulate", { transaction: wire, accounts: { addresses: [program] } })
    expect([value, body.accounts]).toEqual([
      value,
      [{ lamports: "1", owner: "o", data: ["", "base64"], executable: false }],
    ])
  }
})

test("simulate: a member that the provider omits is null, and a body of 2 MiB is accepted", async () => {
  const logs = JSON.stringify(["a".repeat(2_000_000)])
  rpc.script((r) => result(r, `{"context":{"slot":1},"value":{"logs":${logs}}}`))
  const { status, body } = await relay.post("simulate", { transaction: wire, sigVerify: true })
  expect(status).toBe(200)
  expect({ ...body, logs: null }).toEqual({
    contextSlot: "1",
    err: null,
    logs: null,
    unitsConsumed: null,
    loadedAccountsDataSize: null,
    returnData: null,
    innerInstructions: null,
    accounts: null,
    replacementBlockhash: null,
  })
  expect(rpc.requests[0]?.params[1]).toMatchObject({ sigVerify: true, replaceRecentBlockhash: false })
  expect(rpc.requests[0]?.params[1]).not.toHaveProperty("accounts")
  rpc.script((r) => result(r, `{"context":{"slot":1},"value":{"logs":["${"a".repeat(2_097_152)}"]}}`))
  expect(await relay.post("simulate", { transaction: wire })).toMatchObject({ status: 502 })
})

test("signature-status: null only for null, u64 strings, null confirmations if rooted, and the last searched slot", async () => {
  for (const [value, status] of [
    ["[null]", null],
    [
      `[{"slot":${max},"confirmations":null,"confirmationStatus":"finalized","err":null,"status":{"Ok":null}}]`,
      { slot: max, confirmations: null, confirmationStatus: "finalized", err: null },
    ],
    [
      '[{"slot":1,"confirmations":31,"confirmationStatus":"confirmed","err":{"InsufficientFundsForRent":{"account_index":0}}}]',
      {
        slot: "1",
        confirmations: "31",
        confirmationStatus: "confirmed",
        err: { InsufficientFundsForRent: { account_index: 0 } },
      },
    ],
  ] as const) {
    rpc.requests.length = 0
    rpc.script((r) => result(r, `{"context":{"slot":${max}},"value":${value}}`))
    expect((await relay.post("signature-status", { signature, searchTransactionHistory: true })).body).toEqual({
      status,
      contextSlot: max,
    })
    expect(rpc.requests[0]?.method).toBe("getSignatureStatuses")
    expect(rpc.requests[0]?.params).toEqual([[signature], { searchTransactionHistory: true }])
  }
})

test("send: maxRetries is 0, and only the derived signature is a success", async () => {
  const echo = (r: { params: readonly unknown[] }) => r.params.length
  rpc.script((r) => result(r, `"${echo(r)}"`))
  const mismatch = await relay.post("send", { transaction: wire })
  expect(mismatch).toMatchObject({ status: 502, body: { code: "submission_unknown", submissionState: "unknown" } })
  const derived: unknown = mismatch.body.signature
  rpc.requests.length = 0
  rpc.script((r) => result(r, JSON.stringify(derived)))
  const sent = await relay.post("send", {
    transaction: wire,
    skipPreflight: true,
    preflightCommitment: "processed",
    minContextSlot: max,
  })
  expect(sent).toMatchObject({ status: 200, body: { signature: derived } })
  expect(rpc.requests[0]?.method).toBe("sendTransaction")
  expect(paramsText()).toBe(
    `["${wire}",{"encoding":"base64","skipPreflight":true,"preflightCommitment":"processed","maxRetries":0,"minContextSlot":${max}}]`,
  )
})

const malformed: Record<string, readonly string[]> = {
  "latest-blockhash": [
    "null",
    "{}",
    '{"context":{"slot":1},"value":{"blockhash":"a"}}',
    '{"context":{"slot":1},"value":{"blockhash":"a","lastValidBlockHeight":"5"}}',
    '{"context":{"slot":-1},"value":{"blockhash":"a","lastValidBlockHeight":5}}',
    '{"context":{"slot":1.5},"value":{"blockhash":"a","lastValidBlockHeight":5}}',
    '{"context":{"slot":18446744073709551616},"value":{"blockhash":"a","lastValidBlockHeight":5}}',
    '{"value":{"blockhash":"a","lastValidBlockHeight":5}}',
  ],
  "block-height": ["null", '"5"', "-1", "1e30", "{}"],
  fee: ['{"context":{"slot":1}}', '{"context":{"slot":1},"value":"5"}', "5"],
  simulate: [
    '{"context":{"slot":1}}',
    '{"context":{"slot":1},"value":null}',
    '{"context":{"slot":1},"value":{"unitsConsumed":"1"}}',
    '{"context":{"slot":1},"value":{"logs":[1]}}',
    `{"context":{"slot":1},"value":{"err":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`,
  ],
  "signature-status": [
    "null",
    '{"context":{"slot":1}}',
    '{"context":{"slot":1},"value":[]}',
    '{"context":{"slot":1},"value":{}}',
    '{"context":{"slot":1},"value":[1]}',
    '{"context":{"slot":1},"value":[{"slot":1,"confirmationStatus":"finalized","err":null}]}',
    '{"context":{"slot":1},"value":[{"slot":1,"confirmations":null,"confirmationStatus":"finalized"}]}',
    '{"context":{"slot":1},"value":[{"slot":"1","confirmations":null,"confirmationStatus":"finalized","err":null}]}',
    '{"value":[null]}',
    '{"context":{},"value":[null]}',
  ],
}

test.each(Object.entries(malformed))("%s: a malformed response is upstream_unavailable", async (route, results) => {
  const bodies: Record<string, unknown> = {
    fee: { message: messageOf(wire) },
    simulate: { transaction: wire },
    "signature-status": { signature },
  }
  for (const text of results) {
    rpc.script((r) => result(r, text))
    const answer = await relay.post(route, bodies[route] ?? {})
    expect([text.slice(0, 80), answer.status, answer.body.code]).toEqual([
      text.slice(0, 80),
      502,
      "upstream_unavailable",
    ])
    expect(answer.body.retryable).toBe(true)
    expect(answer.headers.get("x-svc-upstream-attempted")).toBe("true")
  }
})

const refused: [string, unknown, string, string][] = [
  ["block-height", '{"__proto__":1}', "invalid_request", "__proto__"],
  ["block-height", { commitment: "max" }, "invalid_request", "commitment"],
  ["block-height", { minContextSlot: 1 }, "invalid_request", "minContextSlot"],
  ["block-height", { minContextSlot: "01" }, "invalid_request", "minContextSlot"],
  ["block-height", { minContextSlot: "1\n" }, "invalid_request", "minContextSlot"],
  ["block-height", { minContextSlot: "18446744073709551616" }, "invalid_request", "minContextSlot"],
  ["latest-blockhash", { commitment: 1 }, "invalid_request", "commitment"],
  ["fee", {}, "invalid_request", "message"],
  ["fee", { message: null }, "invalid_request", "message"],
  ["fee", { message: "%" }, "invalid_base64", "message"],
  ["fee", { message: "" }, "invalid_transaction", "message"],
  ["simulate", { transaction: "AA=" }, "invalid_base64", "transaction"],
  ["simulate", { transaction: "AAAA" }, "invalid_transaction", "transaction"],
  ["simulate", { transaction: "AAAA", accounts: { addresses: [], x: 1 } }, "invalid_request", "accounts.x"],
  ["simulate", { transaction: "AAAA", accounts: { addresses: [1] } }, "invalid_request", "accounts.addresses[0]"],
  ["simulate", { transaction: "AAAA", accounts: { addresses: ["0"] } }, "invalid_accounts", "accounts.addresses[0]"],
  [
    "simulate",
    { transaction: "AAAA", accounts: { addresses: [program, program.replace(/^./, "0")] } },
    "invalid_accounts",
    "accounts.addresses[1]",
  ],
  [
    "simulate",
    { transaction: "AAAA", accounts: { addresses: Array(17).fill(program) } },
    "invalid_accounts",
    "accounts.addresses",
  ],
  [
    "simulate",
    { transaction: "AAAA", sigVerify: true, replaceRecentBlockhash: true },
    "invalid_options",
    "replaceRecentBlockhash",
  ],
  ["signature-status", {}, "invalid_request", "signature"],
  ["signature-status", { signature: program }, "invalid_signature", "signature"],
  ["signature-status", { signature: `${signature}1` }, "invalid_signature", "signature"],
  ["signature-status", { signature: signature.replace(/^./, "0") }, "invalid_signature", "signature"],
  ["signature-status", { signature: signature.replace(/.$/, "é") }, "invalid_signature", "signature"],
  ["signature-status", { signature, commitment: "confirmed" }, "invalid_request", "commitment"],
  ["send", {}, "invalid_request", "transaction"],
  ["send", { transaction: null }, "invalid_request", "transaction"],
  ["send", { transaction: "AAAA", commitment: "confirmed" }, "invalid_request", "commitment"],
  ["send", { transaction: "AAAA", maxRetries: 5 }, "invalid_request", "maxRetries"],
  ["send", { transaction: "AAAA" }, "invalid_transaction", "transaction"],
  ["send", { transaction: "A" }, "invalid_base64", "transaction"],
]

test.each(refused)("%s rejects %j as %s at %j, without calling the provider", async (route, body, code, path) => {
  const answer = await relay.post(route, body)
  expect(answer).toMatchObject({ status: 400, body: { code, retryable: false, details: { path } } })
  const { reason } = answer.body.details
  expect(reason).toMatch(/\w/)
  // Programs join the two: "The signature isn't valid: signature must be base58 of exactly 64 bytes".
  expect(answer.body.message).not.toContain(reason.split(" ").slice(-2).join(" "))
  expect(answer.headers.get("x-svc-upstream-attempted")).toBe("false")
  expect(rpc.requests).toHaveLength(0)
})

test("a send with zero signatures is unsigned_transaction, one byte over the limit transaction_too_large", async () => {
  const zero = await relay.post("send", { transaction: unsigned(wire) })
  expect(zero).toMatchObject({ status: 400, body: { code: "unsigned_transaction", submissionState: "not_submitted" } })
  const large = await relay.post("send", { transaction: await transactionOfSize(1233) })
  expect(large).toMatchObject({ status: 400, body: { code: "transaction_too_large" } })
  rpc.script((r) => raw("", r.params.length))
  expect((await relay.post("send", { transaction: await transactionOfSize(1232) })).body.code).toBe(
    "submission_unknown",
  )
})
