import fc from "fast-check"
import { expect, test } from "vitest"
import { transfer } from "@svc/testing/solana"
import { fundedSigner, signedV1, startChain } from "./fixture.ts"

const runs = process.env["SVC_FUZZ"] === "full" ? 50_000 : 150

test(`${runs} changes of a version 1 transaction: none crashes the virtual machine`, async () => {
  const chain = await startChain()
  const payer = await fundedSigner(chain)
  const good = Buffer.from(await signedV1(chain, payer, [transfer(payer.address, payer.address, 1n)]), "base64")
  const change = fc.record({ at: fc.oneof(fc.nat(43), fc.nat(good.length - 1)), byte: fc.nat(255) })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
      const bytes = Buffer.from(good)
      for (const { at, byte } of changes) bytes[at] = byte
      const wire = bytes.toString("base64")
      const options = { encoding: "base64", commitment: "processed" }
      const simulated = await chain.call("simulateTransaction", wire, options)
      expect("result" in simulated || simulated.error.code === -32602).toBe(true)
      await chain.call("sendTransaction", wire, { encoding: "base64", skipPreflight: true })
      expect((await chain.call("getSlot")).result).toBeGreaterThan(0)
    }),
    { numRuns: runs },
  )
  await chain.close()
}, 3_600_000)
