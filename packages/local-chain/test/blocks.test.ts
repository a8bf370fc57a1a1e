import { generateKeyPairSigner } from "@solana/kit"
import { afterEach, beforeEach, expect, test } from "vitest"
import { transfer } from "@svc/testing/solana"
import { signed, signedV1, startChain } from "./fixture.ts"
import type { Chain } from "./fixture.ts"

let chain: Chain
beforeEach(async () => {
  chain = await startChain()
})
afterEach(() => chain.close())

const newest = async () => Number(await chain.rpc.getSlot({ commitment: "processed" }).send())
const block = (slot: number, options: object = {}) =>
  chain.call("getBlock", slot, {
    commitment: "confirmed",
    encoding: "base64",
    maxSupportedTransactionVersion: 1,
    ...options,
  })
const blocks = async (...params: unknown[]) => (await chain.call("getBlocks", ...params)).result

test("a block lists its transactions of every version in order, including failed ones, with what each cost and changed", async () => {
  const payer = await chain.fund()
  const to = (await generateKeyPairSigner()).address
  chain.pass(40)
  const { blockhash } = (await chain.rpc.getLatestBlockhash().send()).value
  const pay = (amount: bigint) => [transfer(payer.address, to, amount)]
  const wires = [
    await signed(payer, pay(1_000_000_000n), blockhash, "legacy"),
    await signed(payer, pay(9_000_000_000n), blockhash),
    await signedV1(chain, payer, pay(2_000_000n)),
  ]
  const options = { encoding: "base64", skipPreflight: true }
  for (const wire of wires) await chain.call("sendTransaction", wire, options)
  const slot = await newest()
  chain.pass(1)
  const { result } = await block(slot)
  expect(result.transactions.map(({ transaction }: { transaction: [string] }) => transaction[0])).toEqual(wires)
  expect(result.transactions.map(({ version }: { version: unknown }) => version)).toEqual(["legacy", 0, 1])
  expect(result.blockTime).toBe(Date.parse("2026-01-01T00:00:16Z") / 1000)
  expect(result.transactions.map(({ meta }: { meta: unknown }) => meta)).toMatchObject([
    { err: null, fee: 5000, preBalances: [5_000_000_000, 0, 1], postBalances: [3_999_995_000, 1_000_000_000, 1] },
    { err: { InstructionError: [0, { Custom: 1 }] }, fee: 5000 },
    { err: null, fee: 5000 },
  ])
  expect((await block(slot, { maxSupportedTransactionVersion: undefined })).error.code).toBe(-32015)
})

test("blocks form a chain: each has its parent's slot and hash, and the next height", async () => {
  chain.pass(3)
  const last = (await newest()) - 1
  const [before, after] = [(await block(last - 1)).result, (await block(last)).result]
  expect(after).toEqual({
    blockHeight: before.blockHeight + 1,
    blockTime: expect.any(Number),
    blockhash: expect.any(String),
    parentSlot: last - 1,
    previousBlockhash: before.blockhash,
    transactions: [],
  })
})

test("getBlocks lists the slots of a range up to its commitment, without those that had no block", async () => {
  const first = Number((await chain.call("getFirstAvailableBlock")).result)
  const start = await newest()
  chain.pass(1)
  expect(await blocks(start - 1, null, { commitment: "confirmed" })).toEqual([start - 1, start])
  expect(await blocks(start - 1, { commitment: "confirmed" })).toEqual([start - 1, start])
  expect(await blocks(0, start + 40)).toEqual([first, first + 1])

  expect(await blocks(start + 1, start, { commitment: "confirmed" })).toEqual([])
  // After a long time without a request, the chain has no blocks for a while.
  chain.pass(1_000)
  const slots: number[] = await blocks(start, start + 1_000, { commitment: "confirmed" })
  expect(slots.slice(0, 3)).toEqual([start, start + 1, start + 1_001 - 182])
  expect((await block(start + 2)).error).toMatchObject({ code: -32007 })
  expect((await block(start + 1_001 - 182)).result.parentSlot).toBe(start + 1)
})

test("a future or pruned block, or one requested in a way that a validator rejects, is an error", async () => {
  const slot = await newest()
  expect((await block(slot)).error).toEqual({ code: -32004, message: `Block not available for slot ${slot}` })
  expect((await block(5)).error.code).toBe(-32001)
  expect((await block(slot, { commitment: "processed" })).error.code).toBe(-32602)
  for (const wish of [{ encoding: "jsonParsed" }, { encoding: undefined }, { transactionDetails: "none" }])
    expect((await block(slot - 1, wish)).error.code).toBe(-32602)
  expect((await chain.call("getBlocks", 0, 600_000, { commitment: "confirmed" })).result).toContain(slot - 1)
  expect((await chain.call("getBlocks", "x")).error.code).toBe(-32602)
})

test("a rollback removes the newest block's transactions", async () => {
  await chain.fund()
  const slot = await newest()
  chain.rollback()
  chain.pass(1)
  expect((await block(slot)).result.transactions).toEqual([])
})
