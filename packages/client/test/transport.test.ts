import {
  address,
  createSolanaRpc,
  createSolanaRpcFromTransport,
  generateKeyPairSigner,
  lamports,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  type Base64EncodedWireTransaction,
  type Signature,
  type TransactionMessageBytesBase64,
} from "@solana/kit"
import { messageOf, signTransaction, transfer } from "@svc/testing/solana"
import { afterAll, expect, test } from "vitest"
import { createRelay, createRelayTransport, createSession } from "../src/index.ts"
import { scriptedRelay } from "./scripted-relay.ts"
import { startServices } from "./services.ts"
import { createVirtualClock } from "./virtual-clock.ts"

const services = await startServices()
afterAll(services.stop)
const session = createSession({
  platform: services.platform(),
  websocketUrl: "wss://stack.example/transfers",
  scope: ["transaction:inspect", "transaction:send"],
})
const relay = createRelay({ relayUrl: services.relayUrl, session })
const viaRelay = createSolanaRpcFromTransport(createRelayTransport(relay)) as ReturnType<typeof createSolanaRpc>

const asWire = (text: string) => text as Base64EncodedWireTransaction

test("through the relay kit gets exactly what it gets from the chain", async () => {
  const payer = await generateKeyPairSigner()
  await services.rpc.requestAirdrop(payer.address, lamports(2_000_000_000n)).send()
  const { value: latest } = await viaRelay.getLatestBlockhash({ commitment: "processed" }).send()
  expect(typeof latest.lastValidBlockHeight).toBe("bigint")
  const recipient = (await generateKeyPairSigner()).address
  const { base64, signature } = await signTransaction(payer, [transfer(payer.address, recipient, 5_000_000n)], latest)
  const message = messageOf(base64) as TransactionMessageBytesBase64

  for (const rpc of [viaRelay, services.rpc]) {
    const fee = await rpc.getFeeForMessage(message, { commitment: "processed" }).send()
    expect(fee.value).toBe(5000n)
    expect(typeof fee.context.slot).toBe("bigint")
  }
  const accounts = { addresses: [payer.address], encoding: "base64" } as const
  const options = { encoding: "base64", commitment: "processed", accounts } as const
  const simulations = await Promise.all(
    [viaRelay, services.rpc].map((rpc) => rpc.simulateTransaction(asWire(base64), options).send()),
  )
  const [ours, theirs] = simulations.map(({ value }) => value)
  expect(ours).toMatchObject({ err: null, unitsConsumed: theirs?.unitsConsumed, accounts: theirs?.accounts })
  // rentEpoch is more than a double holds.
  expect(ours?.accounts?.[0]).toMatchObject({ rentEpoch: 18_446_744_073_709_551_615n })

  const sent = await viaRelay
    .sendTransaction(asWire(base64), { encoding: "base64", preflightCommitment: "processed" })
    .send()
  expect(sent).toBe(signature)
  const unknown =
    "4vVDtG8g4gxZq1qrqWbXfadumHm4mQCgYFn9yRHTiADXnPDnbJmbJ7doUN5hNwBAoU4V3maEVfN4Sfxc84X5aoPi" as Signature
  const statuses = await viaRelay.getSignatureStatuses([sent, unknown], { searchTransactionHistory: true }).send()
  expect(statuses.value).toEqual([
    expect.objectContaining({ err: null, status: { Ok: null }, slot: expect.any(BigInt) }),
    null,
  ])
  expect(await viaRelay.getBlockHeight({ commitment: "processed" }).send()).toBeGreaterThan(0n)
})

test("an absent commitment means finalized, as in kit", async () => {
  const [left, said] = await Promise.all([
    viaRelay.getBlockHeight({ commitment: "finalized" }).send(),
    viaRelay.getBlockHeight({ commitment: "processed" }).send(),
  ])
  expect(said - left).toBeGreaterThanOrEqual(31n)
})

test("the provider's error becomes kit's error", async () => {
  const payer = await generateKeyPairSigner()
  const { value: latest } = await viaRelay.getLatestBlockhash({ commitment: "processed" }).send()
  const { base64 } = await signTransaction(payer, [transfer(payer.address, payer.address, 1n)], latest)
  const send = viaRelay.sendTransaction(asWire(base64), { encoding: "base64" }).send()
  await expect(send).rejects.toMatchObject({
    context: { __code: SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE },
  })
})

test("methods and options that the relay doesn't support are rejected by name, before any request", async () => {
  const system = address("11111111111111111111111111111111")
  await expect(viaRelay.getBalance(system).send()).rejects.toMatchObject({
    code: "not-carried",
    message: expect.stringMatching(/no method getBalance.*getLatestBlockhash/),
  })
  const { relay: silent, asked } = scriptedRelay(createVirtualClock().clock, () => "lost")
  const rpc = createSolanaRpcFromTransport(createRelayTransport(silent))
  const wire = asWire("AQ==")
  for (const request of [
    rpc.sendTransaction(wire, { encoding: "base64", maxRetries: 3n }),
    rpc.sendTransaction(wire, { encoding: "base58" as "base64" }),
    rpc.sendTransaction(wire),
    rpc.getSignatureStatuses([]),
    rpc.getSignatureStatuses([], { commitment: "confirmed" } as object),
  ]) {
    await expect(request.send()).rejects.toMatchObject({ code: "not-carried" })
  }
  expect(asked).toEqual([])
})
