import { full } from "@svc/testing"
import fc from "fast-check"
import { expect, test } from "vitest"
import { memo, messageOf, transfer } from "@svc/testing/solana"
import { createLocalChain } from "../src/index.ts"
import { signed, signedV1, startChain } from "./fixture.ts"

const runs = full ? 50_000 : 500

test(`${runs} changes of a transaction's bytes, of any version: none ends the process or causes an internal error`, async () => {
  const started = await startChain()
  const payer = await started.fund()
  const { blockhash } = (await started.rpc.getLatestBlockhash().send()).value
  const to = payer.address
  const pay = [transfer(to, to, 5n)]
  const seeds = await Promise.all([
    signed(payer, [...pay, memo("fuzz")], blockhash, "legacy"),
    signed(payer, [...pay, memo("fuzz")], blockhash),
    signed(payer, pay, blockhash, 0, { [to]: [to] }),
    signedV1(started, payer, pay),
  ])
  await started.close()
  // The same chain without HTTP: two with the same clock have the same blockhashes.
  const { handle } = createLocalChain({ now: () => Date.parse("2026-01-01T00:00:00Z") })
  const ask = (method: string, ...params: unknown[]) => handle({ jsonrpc: "2.0", id: 1, method, params })
  ask("requestAirdrop", to, 1_000_000_000)
  const change = fc.record({ at: fc.oneof(fc.nat(43), fc.nat()), value: fc.oneof(fc.nat(9), fc.nat(255)) })
  fc.assert(
    fc.property(
      fc.constantFrom(...seeds),
      fc.array(change, { maxLength: 4 }),
      fc.option(fc.nat(300), { freq: 8 }),
      (seed, changes, length) => {
        const bytes = Buffer.from(seed, "base64")
        const isOlder = bytes[0] !== 0x81
        // An older version's signature comes first, and its bytes don't matter: change those before and after it.
        for (const { at, value } of changes) {
          const place = at % (bytes.length - 64)
          bytes[isOlder && place > 0 ? place + 64 : place] = value
        }
        const wire = bytes.subarray(0, length ?? bytes.length).toString("base64")
        const options = { encoding: "base64", commitment: "processed", skipPreflight: true }
        const calls = [
          ["simulateTransaction", wire, { ...options, accounts: { addresses: [to] }, innerInstructions: true }],
          ["simulateTransaction", wire, { ...options, replaceRecentBlockhash: true }],
          ["sendTransaction", wire, options],
          ["getFeeForMessage", messageOf(wire)],
        ] as const
        for (const [method, ...params] of calls) {
          const { error } = ask(method, ...params) as { error?: { code: number } }
          expect([undefined, -32602]).toContain(error?.code)
        }
      },
    ),
    { numRuns: runs },
  )
})
