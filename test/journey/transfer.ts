import { strict as assert } from "node:assert"
import { setTimeout as delay } from "node:timers/promises"

import type { Agent } from "./arrive.ts"
import type { Traveller } from "./journey.ts"
import { createRelayClient, latestShape, sentShape, simulationShape, statusShape } from "./relay.ts"
import * as shape from "./shapes.ts"
import { createWallet } from "./wallet.ts"

export type Sent = { readonly token: string; readonly wire: string; readonly signature: string }

const sol = 1_000_000_000n

/** A session, and with it a transfer from building to confirmed. */
export const transfer = async ({ instance, svc, take, show }: Traveller, { slug, stackUrl }: Agent): Promise<Sent> => {
  const { relayUrl, chainUrl } = instance

  const token = await take(
    {
      does: "The agent mints a session token",
      proves: "the relay never sees the key: it gets a token for one stack, two scopes and five minutes",
    },
    async () => {
      const session = shape.session.parse(
        await svc.json(`svc session ${stackUrl} --scope 'transaction:inspect transaction:send' --json`),
      )
      const claims = shape.claimsOf(session.token)
      show(`sub ${claims.sub}, aud ${claims.aud}, scope "${claims.scope}", ${claims.exp - claims.iat} s`)
      assert.deepEqual([claims.sub, claims.aud, claims.exp - claims.iat], [`agent:${slug}`, "transfers", 300])
      assert.deepEqual([session.scope, session.expires_at], [claims.scope, claims.exp])
      return session.token
    },
  )
  const relay = createRelayClient(relayUrl, token)

  const confirmed = async (sent: string): Promise<void> => {
    const deadline = performance.now() + 60_000
    for (;;) {
      const { status } = await relay("signature-status", { signature: sent }, statusShape)
      if (status !== null && status.confirmationStatus !== "processed") {
        show(`signature-status -> ${status.confirmationStatus} in slot ${status.slot}`)
        return
      }
      assert.ok(performance.now() < deadline, "not confirmed within a minute")
      await delay(200)
    }
  }

  const { wallet, wire, signature } = await take(
    {
      does: "@solana/kit makes an account, builds a transfer of 1 SOL and signs it",
      proves: "signing happens at the agent's: no service ever holds a signing key",
    },
    async () => {
      const made = await createWallet(chainUrl)
      await made.fund(2n * sol)
      assert.equal(await made.balance(), 2n * sol)
      show(`account ${made.address} with 2 SOL from the local chain's faucet`)
      const latest = await relay("latest-blockhash", {}, latestShape)
      show(`POST ${relayUrl}/transactions/v1/latest-blockhash -> good until block ${latest.lastValidBlockHeight}`)
      const signed = await made.signTransfer(sol, latest)
      show(`signed: ${Buffer.from(signed.wire, "base64").length} bytes`)
      return { wallet: made, ...signed }
    },
  )

  await take(
    {
      does: "The relay simulates the transfer",
      proves: "a program's error shows before anything is paid; u64 values come as exact strings",
    },
    async () => {
      const { unitsConsumed } = await relay("simulate", { transaction: wire, sigVerify: true }, simulationShape)
      show(`POST ${relayUrl}/transactions/v1/simulate -> no error, ${unitsConsumed} compute units`)
      assert.equal(await wallet.recipientBalance(), 0n)
    },
  )

  await take(
    {
      does: "The relay sends it, once",
      proves: "the provider's answer is the signature that the relay had derived before it asked",
    },
    async () => {
      const sent = await relay("send", { transaction: wire }, sentShape)
      assert.equal(sent.signature, signature)
      show(`POST ${relayUrl}/transactions/v1/send -> ${signature.slice(0, 8)}…`)
    },
  )

  await take(
    {
      does: "The local chain confirms it",
      proves: "a real Solana virtual machine ran it: the recipient has the lamports, the payer paid the fee",
    },
    async () => {
      await confirmed(signature)
      assert.equal(await wallet.recipientBalance(), sol)
      assert.equal(await wallet.balance(), sol - 5000n)
      show(`balances on the chain: recipient ${sol} lamports, payer ${sol - 5000n}`)
    },
  )

  await take(
    {
      does: "The same wallet sends a transaction of version 1",
      proves: "its message comes first and its signatures last; the relay derives the same signature as the wallet",
    },
    async () => {
      const latest = await relay("latest-blockhash", {}, latestShape)
      const one = await wallet.signTransfer(sol / 2n, latest, 1)
      const sent = await relay("send", { transaction: one.wire }, sentShape)
      assert.equal(sent.signature, one.signature)
      await confirmed(one.signature)
      assert.equal(await wallet.recipientBalance(), sol + sol / 2n)
    },
  )
  return { token, wire, signature }
}
