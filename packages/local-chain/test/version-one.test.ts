import { generateKeyPairSigner, getBase58Decoder } from "@solana/kit"
import { afterAll, expect, test } from "vitest"
import { firstSignatureOf, memo, messageOf, transfer, usualLimits } from "@svc/testing/solana"
import { signedV1, startChain } from "./fixture.ts"

const chain = await startChain()
afterAll(chain.close)

const idOf = (wire: string): string => getBase58Decoder().decode(firstSignatureOf(wire))
const base64 = { encoding: "base64", preflightCommitment: "confirmed" }

test("a version 1 transfer is priced, simulated and sent under its own signature", async () => {
  const payer = await chain.fund()
  const to = (await generateKeyPairSigner()).address
  const wire = await signedV1(chain, payer, [transfer(payer.address, to, 1_000_000_000n)], {
    ...usualLimits,
    priorityFeeLamports: 777n,
  })
  expect((await chain.call("getFeeForMessage", messageOf(wire), { commitment: "processed" })).result.value).toBe(5777)
  const options = { encoding: "base64", commitment: "processed" }
  const simulated = await chain.call("simulateTransaction", wire, { ...options, sigVerify: true })
  expect(simulated.result.value).toMatchObject({ err: null, fee: 5777 })
  const replaced = await chain.call("simulateTransaction", wire, { ...options, replaceRecentBlockhash: true })
  expect(replaced.result.value.err).toBeNull()
  expect((await chain.call("sendTransaction", wire, base64)).result).toBe(idOf(wire))
  expect((await chain.rpc.getBalance(to).send()).value).toBe(1_000_000_000n)
  expect((await chain.rpc.getBalance(payer.address).send()).value).toBe(3_999_994_223n)
})

test("a version 1 transaction may have up to 4,096 bytes, an older one 1,232", async () => {
  const payer = await chain.fund()
  const big = await signedV1(chain, payer, [memo("a".repeat(3000))])
  expect(Buffer.from(big, "base64").length).toBeGreaterThan(3000)
  expect((await chain.call("sendTransaction", big, base64)).result).toBe(idOf(big))
  const tooBig = Buffer.alloc(4097, 0)
  tooBig[0] = 0x81
  expect((await chain.call("sendTransaction", tooBig.toString("base64"), base64)).error.message).toContain("max: 4096")
  tooBig[0] = 1
  const old = tooBig.subarray(0, 1233).toString("base64")
  expect((await chain.call("sendTransaction", old, base64)).error.message).toContain("max: 1232")
})

test("a version 1 transaction without limits has nothing to spend, and fails as on a real chain", async () => {
  const payer = await chain.fund()
  const wire = await signedV1(chain, payer, [transfer(payer.address, payer.address, 1n)], {})
  const { error } = await chain.call("sendTransaction", wire, base64)
  expect(error).toMatchObject({ code: -32002, data: { err: "MaxLoadedAccountsDataSizeExceeded" } })
})

test("a changed signature byte, a message behind the signatures and a truncated message are rejected", async () => {
  const payer = await chain.fund()
  const good = Buffer.from(await signedV1(chain, payer, [transfer(payer.address, payer.address, 1n)]), "base64")
  const changed = Buffer.from(good)
  changed[good.length - 1] = (good.at(-1) ?? 0) ^ 1
  const send = async (bytes: Buffer) => (await chain.call("sendTransaction", bytes.toString("base64"), base64)).error
  expect(await send(changed)).toMatchObject({ code: -32003 })
  const behind = Buffer.concat([Buffer.from([1]), good.subarray(-64), good.subarray(0, -64)])
  expect(await send(behind)).toMatchObject({ code: -32602 })
  expect(await send(good.subarray(0, -1))).toMatchObject({ code: -32602 })
  expect(await send(Buffer.concat([good, Buffer.from([0])]))).toMatchObject({ code: -32602 })
  expect(await send(Buffer.from([0x82, ...good.subarray(1)]))).toMatchObject({ code: -32602 })
})
