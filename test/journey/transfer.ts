import { strict as assert } from "node:assert"
import { createRelay, submit } from "@svc/client"
import { sessionLifetimeSeconds } from "@svc/session-token"

import type { Agent } from "./arrive.ts"
import type { Traveller } from "./journey.ts"
import * as shape from "./shapes.ts"
import { createWallet } from "@svc/testing/wallet"

export type Sent = { readonly token: string; readonly wire: string; readonly signature: string }

const sol = 1_000_000_000n

/** A session, and with it a transfer from building to confirmed. */
export const transfer = async ({ instance, svc, take, show }: Traveller, { slug, stackUrl }: Agent): Promise<Sent> => {
  const { relayUrl, chainUrl } = instance

  const token = await take(
    {
      does: "The agent mints a session token",
      proves: "the relay never sees the key: it gets a short-lived token for one stack and two scopes",
    },
    async () => {
      const session = shape.session.parse(
        await svc.json(`svc session ${stackUrl} --scope 'transaction:inspect transaction:send' --json`),
      )
      const claims = shape.claimsOf(session.token)
      show(`sub ${claims.sub}, aud ${claims.aud}, scope "${claims.scope}", ${claims.exp - claims.iat} s`)
      assert.deepEqual(
        [claims.sub, claims.aud, claims.exp - claims.iat],
        [`agent:${slug}`, "transfers", sessionLifetimeSeconds],
      )
      assert.deepEqual([session.scope, session.expires_at], [claims.scope, claims.exp])
      return session.token
    },
  )
  const relay = createRelay({ relayUrl, session: { token: async () => token } })

  /** Submits and finds out; it must land, and well. */
  const land = async (signed: { readonly wire: string; readonly signature: string }, lastValidBlockHeight: bigint) => {
    const stored: string[] = []
    const before = (derived: string): void => void stored.push(derived)
    const signal = AbortSignal.timeout(60_000)
    const outcome = await submit(relay, { transaction: signed.wire, lastValidBlockHeight, before, signal })
    assert.deepEqual(stored, [signed.signature])
    assert.ok(outcome.state === "landed" && outcome.err === null, outcome.state)
    show(`submit -> ${outcome.state}, ${outcome.commitment} in slot ${outcome.slot}`)
  }

  const { wallet, wire, signature, lastValidBlockHeight } = await take(
    {
      does: "@solana/kit makes an account, builds a transfer of 1 SOL and signs it",
      proves: "signing happens at the agent's: no service ever holds a signing key",
    },
    async () => {
      const made = await createWallet(chainUrl)
      await made.fund(2n * sol)
      assert.equal(await made.balance(), 2n * sol)
      show(`account ${made.address} with 2 SOL from the local chain's faucet`)
      const latest = await relay.latestBlockhash()
      show(`POST ${relayUrl}/transactions/v1/latest-blockhash -> good until block ${latest.lastValidBlockHeight}`)
      const signed = await made.signTransfer(sol, latest)
      show(`signed: ${Buffer.from(signed.wire, "base64").length} bytes`)
      return { wallet: made, lastValidBlockHeight: latest.lastValidBlockHeight, ...signed }
    },
  )

  await take(
    {
      does: "The relay simulates the transfer",
      proves: "a program's error shows before anything is paid; u64 values come as exact strings",
    },
    async () => {
      const { err, unitsConsumed } = await relay.simulate({ transaction: wire, sigVerify: true })
      assert.equal(err, null)
      show(`POST ${relayUrl}/transactions/v1/simulate -> no error, ${unitsConsumed} compute units`)
      assert.equal(await wallet.recipientBalance(), 0n)
    },
  )

  await take(
    {
      does: "The client library submits it and finds out what became of it",
      proves: "the signature is known before the first byte leaves, and the end is one of four that are proven",
    },
    () => land({ wire, signature }, lastValidBlockHeight),
  )

  await take(
    {
      does: "The local chain has it",
      proves: "a real Solana virtual machine ran it: the recipient has the lamports, the payer paid the fee",
    },
    async () => {
      assert.equal(await wallet.recipientBalance(), sol)
      assert.equal(await wallet.balance(), sol - 5000n)
      show(`balances on the chain: recipient ${sol} lamports, payer ${sol - 5000n}`)
    },
  )

  await take(
    {
      does: "The same wallet submits a transaction of version 1",
      proves:
        "its message comes first and its signatures last; library and relay derive the same signature as the wallet",
    },
    async () => {
      const latest = await relay.latestBlockhash()
      await land(await wallet.signTransfer(sol / 2n, latest, { version: 1 }), latest.lastValidBlockHeight)
      assert.equal(await wallet.recipientBalance(), sol + sol / 2n)
    },
  )
  return { token, wire, signature }
}
