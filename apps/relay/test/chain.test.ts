import { type Address, createSolanaRpc, generateKeyPairSigner, lamports } from "@solana/kit"
import { startLocalChain } from "@svc/local-chain"
import { afterEach, beforeEach, expect, test } from "vitest"
import { type Relay, startIssuer, testRelay } from "./fixture.ts"
import { memo, messageOf, transfer, unsigned } from "@svc/testing/solana"
import { signedTransaction } from "./transactions.ts"

const slotMs = 400
let clock: number
let chain: Awaited<ReturnType<typeof startLocalChain>>
let relay: Relay
let headers: { authorization: string }
beforeEach(async () => {
  clock = Date.parse("2026-01-01T00:00:00Z")
  chain = await startLocalChain({ host: "127.0.0.1", port: 0, now: () => clock })
  const issuer = await startIssuer()
  const env = { SVC_TRANSACTION_VERIFY: "signatures" }
  relay = await testRelay(chain.url, { auth: issuer.plugin, env })
  headers = await issuer.bearer()
})
afterEach(() => chain.close())

const pass = (slots: number): void => void (clock += slots * slotMs)
const rpc = () => createSolanaRpc(chain.url)
const balance = async (address: Address) => (await rpc().getBalance(address, { commitment: "processed" }).send()).value
const funded = async () => {
  const signer = await generateKeyPairSigner()
  await rpc().requestAirdrop(signer.address, lamports(5_000_000_000n)).send()
  return signer
}
const post = (route: string, body: unknown) => relay.post(route, body, headers)
const latest = async (): Promise<string> => (await post("latest-blockhash", {})).body.blockhash
const statusOf = async (signature: string) => (await post("signature-status", { signature })).body.status

test("a transfer goes through the relay from blockhash to finalized", async () => {
  const [payer, to] = [await funded(), (await generateKeyPairSigner()).address]
  pass(2)
  const transaction = await signedTransaction(payer, [transfer(payer.address, to, 1_000_000_000n)], {
    blockhash: await latest(),
  })
  expect((await post("fee", { message: messageOf(transaction) })).body).toMatchObject({ feeLamports: "5000" })
  const simulated = await post("simulate", {
    transaction: unsigned(transaction),
    accounts: { addresses: [to] },
    innerInstructions: true,
  })
  expect(simulated.body).toMatchObject({ err: null, unitsConsumed: "150", accounts: [{ lamports: "1000000000" }] })
  expect(simulated.body.accounts[0].rentEpoch).toBe("18446744073709551615")
  const sent = await post("send", { transaction })
  expect(sent.status).toBe(200)
  const { signature } = sent.body
  expect(await balance(to)).toBe(1_000_000_000n)
  expect(await statusOf(signature)).toMatchObject({ confirmationStatus: "processed", confirmations: "0", err: null })
  pass(32)
  expect(await statusOf(signature)).toMatchObject({ confirmationStatus: "finalized", confirmations: null, err: null })
  expect((await post("block-height", { commitment: "finalized" })).body.blockHeight).toMatch(/^\d+$/)
})

test("an expired blockhash is not_submitted; without preflight the transaction is dropped and never found", async () => {
  const payer = await funded()
  pass(2)
  const hash = await latest()
  pass(200)
  const transaction = await signedTransaction(payer, [memo(new Uint8Array(3))], { blockhash: hash })
  expect((await post("send", { transaction })).body).toMatchObject({
    code: "upstream_rpc_error",
    submissionState: "not_submitted",
    details: { code: -32002, data: { err: "BlockhashNotFound" } },
  })
  expect((await post("fee", { message: messageOf(transaction) })).body.feeLamports).toBeNull()
  const { signature } = (await post("send", { transaction, skipPreflight: true })).body
  expect(await statusOf(signature)).toBeNull()
})

test("a replay is unknown, carries the signature, and pays once", async () => {
  const [payer, to] = [await funded(), (await generateKeyPairSigner()).address]
  pass(2)
  const transaction = await signedTransaction(payer, [transfer(payer.address, to, 1_000_000_000n)], {
    blockhash: await latest(),
  })
  const { signature } = (await post("send", { transaction })).body
  pass(2)
  const replay = await post("send", { transaction })
  expect(replay).toMatchObject({
    status: 502,
    body: { code: "submission_unknown", submissionState: "unknown", signature },
  })
  expect(await statusOf(signature)).toMatchObject({ err: null })
  expect(await balance(to)).toBe(1_000_000_000n)
})

test("bytes that aren't a transaction are not_submitted, though the relay leaves their structure to the chain", async () => {
  const issuer = await startIssuer()
  const lenient = await testRelay(chain.url, { auth: issuer.plugin })
  const transaction = btoa(`\u0001${"\u0001".repeat(64)}message`)
  const { body } = await lenient.post("send", { transaction }, await issuer.bearer())
  expect(body).toMatchObject({ code: "upstream_rpc_error", submissionState: "not_submitted" })
})
