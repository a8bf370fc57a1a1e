// Many transfers, with the source away now and then: the wallets' sums are those that the chain's own blocks give.
import { getBase64Encoder, getCompiledTransactionMessageDecoder, getTransactionDecoder } from "@solana/kit"
import { full, startFaultProxy } from "@svc/testing"
import { expect, test, vi } from "vitest"
import { createClosing, createFollow, sampleAst, startPlatform, startStream } from "./fixture.ts"
import { systemProgram, transfer } from "@svc/testing/solana"
import { startChain, type Chain } from "../../local-chain/test/fixture.ts"

const total = full ? 10_000 : 240
const perTransaction = 4

const closing = createClosing()
const follow = createFollow(closing)

type Sums = Record<string, { readonly count: string; readonly lamports: string }>

/** What each wallet sent, by the blocks alone. */
const sumsOf = async ({ rpc }: Chain): Promise<Sums> => {
  const sums = new Map<string, { count: bigint; lamports: bigint }>()
  const slots = await rpc.getBlocks(0n, undefined, { commitment: "confirmed" }).send()
  for (const slot of slots) {
    const options = { commitment: "confirmed", encoding: "base64", transactionDetails: "full", rewards: false } as const
    const block = await rpc.getBlock(slot, { ...options, maxSupportedTransactionVersion: 0 }).send()
    for (const { transaction, meta } of block?.transactions ?? []) {
      if (meta?.err !== null) continue
      const { messageBytes } = getTransactionDecoder().decode(getBase64Encoder().encode(transaction[0]))
      const message = getCompiledTransactionMessageDecoder().decode(messageBytes)
      if (message.version === 1) throw new Error("the test sends no transaction of version 1")
      for (const { programAddressIndex, accountIndices = [], data = new Uint8Array() } of message.instructions) {
        const bytes = Buffer.from(data)
        if (message.staticAccounts[programAddressIndex] !== systemProgram || bytes.readUInt32LE() !== 2) continue
        const from = message.staticAccounts[accountIndices[0] ?? 0] ?? ""
        const { count, lamports } = sums.get(from) ?? { count: 0n, lamports: 0n }
        sums.set(from, { count: count + 1n, lamports: lamports + bytes.readBigUInt64LE(4) })
      }
    }
  }
  return Object.fromEntries(
    [...sums].map(([wallet, { count, lamports }]) => [wallet, { count: `${count}`, lamports: `${lamports}` }]),
  )
}

test(`${total} transfers end in exactly the counts and sums of the blocks, although the source disconnects meanwhile`, async () => {
  const chain = closing(await startChain())
  let away: "whole" | "for blocks" | undefined
  let dropped = 0
  const choose = ({ body }: { readonly body: string }) => {
    if (away === undefined || (away === "for blocks" && !body.includes('"getBlock"'))) return undefined
    dropped += 1
    return "drop-request"
  }
  const proxy = closing(await startFaultProxy({ target: chain.url, choose }))
  const platform = closing(await startPlatform({ transfers: sampleAst("transfers") }))
  const stream = closing(await startStream({ apiUrl: platform.url, rpcUrl: proxy.url }))
  const seen = follow<{ readonly sent: Sums[string] }>(stream.url(), "Wallet/list")
  const wallets = await Promise.all(Array.from({ length: 5 }, () => chain.fund(1_000_000_000_000n)))
  const transactions = total / perTransaction
  for (let turn = 0; turn < transactions; turn++) {
    if (turn % 20 === 10) away = turn % 40 < 20 ? "whole" : "for blocks"
    if (turn % 20 === 0 && away !== undefined) {
      const before = { dropped, records: seen.records }
      await expect.poll(() => dropped).toBeGreaterThan(before.dropped)
      away = undefined
      await expect.poll(() => seen.records).not.toBe(before.records)
    }
    const payer = wallets[turn % 5]
    if (payer === undefined) continue
    const transfers = Array.from({ length: perTransaction }, (_, index) =>
      transfer(payer.address, wallets[(turn + index + 1) % 5]?.address ?? "", BigInt(1_000_000 + 7 * turn + index)),
    )
    await chain.send(payer, ...transfers)
    if (turn % 4 === 3) chain.pass()
  }
  away = undefined
  chain.pass(2)
  const wanted = await sumsOf(chain)
  const counted = Object.values(wanted).reduce((sum, { count }) => sum + Number(count), 0)
  expect(counted).toBe(total + 5)
  const same = () => {
    for (const [wallet, sent] of Object.entries(wanted)) expect(seen.records.get(wallet)?.sent).toMatchObject(sent)
  }
  await vi.waitFor(same, { timeout: 60_000, interval: 50 })
  expect([seen.records.size, seen.snapshots]).toEqual([Object.keys(wanted).length, 1])
})
