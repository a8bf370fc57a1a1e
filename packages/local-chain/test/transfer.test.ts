import {
  generateKeyPairSigner,
  isSolanaError,
  SOLANA_ERROR__INSTRUCTION_ERROR__CUSTOM,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_MIN_CONTEXT_SLOT_NOT_REACHED,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
} from "@solana/kit"
import type { Base64EncodedWireTransaction, Signature } from "@solana/kit"
import { afterAll, expect, test } from "vitest"
import { memo, transfer, unsigned } from "@svc/testing/solana"
import { signed, startChain } from "./fixture.ts"

const chain = await startChain()
afterAll(chain.close)

const latest = async () => (await chain.rpc.getLatestBlockhash().send()).value.blockhash
const send = (wire: Base64EncodedWireTransaction, skipPreflight = false) =>
  chain.rpc.sendTransaction(wire, { encoding: "base64", skipPreflight }).send()
const statusOf = async (signature: Signature, searchTransactionHistory = false) =>
  (await chain.rpc.getSignatureStatuses([signature], { searchTransactionHistory }).send()).value[0]
/** A raw send whose preflight knows the hashes of confirmed blocks, as the client's does. */
const rawSend = (wire: string) =>
  chain.call("sendTransaction", wire, { encoding: "base64", preflightCommitment: "confirmed" })
const refusal = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.fail("the call was expected to fail"),
    (error: unknown) => error,
  )

test("a transfer moves its lamports, costs 5,000 and goes from processed to confirmed to finalized", async () => {
  const payer = await chain.fund()
  const to = (await generateKeyPairSigner()).address
  const signature = await send(await signed(payer, [transfer(payer.address, to, 1_000_000_000n)], await latest()))
  expect((await chain.rpc.getBalance(to).send()).value).toBe(1_000_000_000n)
  expect((await chain.rpc.getBalance(payer.address).send()).value).toBe(3_999_995_000n)

  const slot = await chain.rpc.getSlot({ commitment: "processed" }).send()
  expect(await statusOf(signature)).toMatchObject({
    slot,
    confirmations: 0n,
    confirmationStatus: "processed",
    err: null,
  })
  chain.pass(1)
  expect(await statusOf(signature)).toMatchObject({ slot, confirmations: 1n, confirmationStatus: "confirmed" })
  chain.pass(30)
  expect(await statusOf(signature)).toMatchObject({ slot, confirmations: 31n, confirmationStatus: "confirmed" })
  chain.pass(1)
  expect(await statusOf(signature)).toMatchObject({ slot, confirmations: null, confirmationStatus: "finalized" })
})

test("a rollback undoes the newest block's statuses and balances, and the same bytes land again", async () => {
  const payer = await chain.fund()
  chain.pass(1)
  const to = (await generateKeyPairSigner()).address
  const blockhash = await latest()
  chain.pass(1)
  const wires = await Promise.all(
    [1_000_000_000n, 2_000_000n].map((amount) => signed(payer, [transfer(payer.address, to, amount)], blockhash)),
  )
  const signatures: Signature[] = []
  for (const wire of wires) signatures.push(await send(wire))
  const [first = "" as Signature] = signatures
  expect(chain.rollback()).toBe(2)
  expect(await statusOf(first, true)).toBeNull()
  expect((await chain.rpc.getBalance(to).send()).value).toBe(0n)
  expect((await chain.rpc.getBalance(payer.address).send()).value).toBe(5_000_000_000n)
  expect(chain.rollback()).toBe(0)
  for (const wire of wires) await send(wire)
  chain.pass(1)
  expect(chain.rollback()).toBe(0)
  expect((await chain.rpc.getBalance(to).send()).value).toBe(1_002_000_000n)
  expect(await statusOf(first)).toMatchObject({ confirmationStatus: "confirmed" })
})

test("an old status is found only by a search of the transaction history", async () => {
  const payer = await chain.fund()
  const signature = await send(await signed(payer, [memo("old")], await latest()))
  chain.pass(32 + 150)
  expect(await statusOf(signature)).toMatchObject({ confirmationStatus: "finalized" })
  chain.pass(1)
  expect(await statusOf(signature)).toBeNull()
  expect(await statusOf(signature, true)).toMatchObject({ confirmationStatus: "finalized" })
})

test("preflight rejects a failing program with the error and its logs, at no fee", async () => {
  const payer = await chain.fund()
  const wire = await signed(payer, [transfer(payer.address, payer.address, 9_000_000_000n)], await latest())
  const error = await refusal(send(wire))
  if (!isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE)) throw error
  expect(isSolanaError(error.cause, SOLANA_ERROR__INSTRUCTION_ERROR__CUSTOM)).toBe(true)
  expect(error.cause).toMatchObject({ context: { index: 0, code: 1 } })
  expect(error.context.logs?.at(-1)).toContain("custom program error: 0x1")
  expect((await chain.rpc.getBalance(payer.address).send()).value).toBe(5_000_000_000n)

  const { error: raw } = await rawSend(wire)
  expect(raw).toMatchObject({
    code: -32002,
    message: "Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1",
    data: { err: { InstructionError: [0, { Custom: 1 }] }, accounts: null, unitsConsumed: 150, returnData: null },
  })
})

test("without preflight a failing transaction lands with its error and pays its fee", async () => {
  const payer = await chain.fund()
  const wire = await signed(payer, [transfer(payer.address, payer.address, 9_000_000_000n)], await latest())
  const signature = await send(wire, true)
  const { result } = await chain.call("getSignatureStatuses", [signature])
  expect(result.value[0]).toMatchObject({
    err: { InstructionError: [0, { Custom: 1 }] },
    status: { Err: { InstructionError: [0, { Custom: 1 }] } },
  })
  expect((await chain.rpc.getBalance(payer.address).send()).value).toBe(4_999_995_000n)
})

test("a transaction that calls an account that isn't a program lands and pays its fee", async () => {
  const payer = await chain.fund()
  const { address } = await generateKeyPairSigner()
  const signature = await send(await signed(payer, [{ programAddress: address }], await latest()), true)
  expect(await statusOf(signature)).toMatchObject({ err: "InvalidProgramForExecution" })
  expect((await chain.rpc.getBalance(payer.address).send()).value).toBe(4_999_995_000n)
})

test("a payer without funds is rejected by preflight and dropped without it", async () => {
  const payer = await generateKeyPairSigner()
  const wire = await signed(payer, [memo("poor")], await latest())
  expect((await rawSend(wire)).error).toMatchObject({
    code: -32002,
    data: { err: "AccountNotFound", fee: null },
  })
  expect(await statusOf(await send(wire, true), true)).toBeNull()
})

test("a blockhash is valid for exactly 150 blocks", async () => {
  const payer = await chain.fund()
  const { blockhash, lastValidBlockHeight } = (await chain.rpc.getLatestBlockhash({ commitment: "processed" }).send())
    .value
  const [last, late] = [await signed(payer, [memo("last")], blockhash), await signed(payer, [memo("late")], blockhash)]
  chain.pass(150)
  expect(await chain.rpc.getBlockHeight({ commitment: "processed" }).send()).toBe(lastValidBlockHeight)
  expect(await statusOf(await send(last))).toMatchObject({ err: null })
  chain.pass(1)
  const { error } = await chain.call("sendTransaction", late, { encoding: "base64", preflightCommitment: "processed" })
  expect(error).toMatchObject({ code: -32002, data: { err: "BlockhashNotFound" } })
  const dropped = await send(late, true)
  expect(await statusOf(dropped, true)).toBeNull()
})

test("a bank of a lower commitment doesn't know the blockhash of a newer block", async () => {
  const payer = await chain.fund()
  chain.pass(1)
  const { blockhash } = (await chain.rpc.getLatestBlockhash({ commitment: "processed" }).send()).value
  const wire = await signed(payer, [memo("early")], blockhash)
  expect((await rawSend(wire)).error.data.err).toBe("BlockhashNotFound")
  const options = { encoding: "base64", preflightCommitment: "processed" } as const
  const sent = await chain.rpc.sendTransaction(wire, options).send()
  expect(await statusOf(sent)).toMatchObject({ err: null })
})

test("a replay is reported as already processed, or dropped without preflight, and runs once", async () => {
  const payer = await chain.fund()
  const to = (await generateKeyPairSigner()).address
  const wire = await signed(payer, [transfer(payer.address, to, 1_000_000_000n)], await latest())
  const signature = await send(wire)
  expect((await rawSend(wire)).error).toMatchObject({
    code: -32002,
    message: "Transaction simulation failed: This transaction has already been processed",
    data: { err: "AlreadyProcessed", logs: [] },
  })
  expect(await send(wire, true)).toBe(signature)
  expect((await chain.rpc.getBalance(to).send()).value).toBe(1_000_000_000n)
})

test("a wrong signature fails verification, and without preflight the transaction is dropped", async () => {
  const payer = await chain.fund()
  const wire = unsigned(await signed(payer, [memo("unsigned")], await latest()))
  expect((await rawSend(wire)).error.code).toBe(-32003)
  const { result: signature } = await chain.call("sendTransaction", wire, { encoding: "base64", skipPreflight: true })
  expect(signature).toBe("1".repeat(64))
  expect(await statusOf(signature as Signature, true)).toBeNull()
})

test("a minimum context slot that isn't reached is rejected with the current slot", async () => {
  const error = await refusal(chain.rpc.getBlockHeight({ minContextSlot: 1_000_000n }).send())
  if (!isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_MIN_CONTEXT_SLOT_NOT_REACHED)) throw error
  expect(error.context.contextSlot).toBe(await chain.rpc.getSlot().send())
})

test("bytes that aren't a transaction are rejected in a validator's words, which the relay knows", async () => {
  const { error } = await rawSend(btoa(`\u0001${"\u0001".repeat(64)}message`))
  expect(error).toMatchObject({
    code: -32602,
    message:
      "failed to deserialize solana_transaction::versioned::VersionedTransaction: io error: failed to fill whole buffer",
  })
})

test("a transaction in another encoding is rejected", async () => {
  const payer = await chain.fund()
  const wire = await signed(payer, [memo("58")], await latest())
  for (const encoding of ["base58", undefined])
    expect((await chain.call("sendTransaction", wire, { encoding })).error.code).toBe(-32602)
})
