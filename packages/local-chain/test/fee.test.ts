import { address } from "@solana/kit"
import type { Instruction } from "@solana/kit"
import fc from "fast-check"
import { afterAll, expect, test } from "vitest"
import { memo, messageOf, transfer } from "@svc/testing/solana"
import { signed, startChain, unitLimit, unitPrice } from "./fixture.ts"

const chain = await startChain()
afterAll(chain.close)

const call = (program: string, data: Uint8Array): Instruction => ({ programAddress: address(program), data })

const others = fc.oneof(
  fc.string({ maxLength: 20 }).map(memo),
  fc.constantFrom(
    call("11111111111111111111111111111111", new Uint8Array()),
    call("Vote111111111111111111111111111111111111111", Uint8Array.of(1)),
    call("BPFLoaderUpgradeab1e11111111111111111111111", new Uint8Array()),
    call("BPFLoader2111111111111111111111111111111111", new Uint8Array()),
    call("LoaderV411111111111111111111111111111111111", new Uint8Array()),
    call("AddressLookupTab1e1111111111111111111111111", new Uint8Array()),
    call("Stake11111111111111111111111111111111111111", new Uint8Array()),
    call("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", new Uint8Array()),
    call("Ed25519SigVerify111111111111111111111111111", Uint8Array.of(2, 0)),
    call("KeccakSecp256k11111111111111111111111111111", Uint8Array.of(3)),
    call("Secp256r1SigVerify1111111111111111111111111", Uint8Array.of(1, 0)),
  ),
)

test("the fee returned for a message is the fee that the machine charges, even if the transaction fails", async () => {
  const payer = await chain.fund(500_000n * 1_000_000_000n)
  const balance = async () => (await chain.rpc.getBalance(payer.address).send()).value
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(others, { maxLength: 3 }),
      fc.option(fc.integer({ min: 1, max: 2_000_000 }), { nil: undefined }),
      fc.option(fc.bigInt({ min: 0n, max: 5_000_000n }), { nil: undefined }),
      async (instructions, limit, price) => {
        const budget = [
          ...(limit === undefined ? [] : [unitLimit(limit)]),
          ...(price === undefined ? [] : [unitPrice(price)]),
        ]
        const { blockhash } = (await chain.rpc.getLatestBlockhash().send()).value
        const wire = await signed(payer, [...budget, ...instructions, memo(`run ${run++}`)], blockhash)
        const { result } = await chain.call("getFeeForMessage", messageOf(wire), { commitment: "confirmed" })
        const before = await balance()
        await chain.call("sendTransaction", wire, { encoding: "base64", skipPreflight: true })
        expect(result.value).toBe(Number(before - (await balance())))
      },
    ),
    { numRuns: 60 },
  )
})

test("the fee is null for an unknown blockhash; bytes that aren't a message are rejected", async () => {
  const payer = await chain.fund()
  const { blockhash } = (await chain.rpc.getLatestBlockhash({ commitment: "processed" }).send()).value
  const message = messageOf(await signed(payer, [transfer(payer.address, payer.address, 1n)], blockhash))
  const fee = async () => (await chain.call("getFeeForMessage", message, { commitment: "processed" })).result.value
  expect(await fee()).toBe(5000)
  chain.pass(151)
  expect(await fee()).toBeNull()
  for (const bad of ["", "AAAA", "!", message.slice(0, -4), `${message}=`]) {
    expect((await chain.call("getFeeForMessage", bad)).error).toMatchObject({ code: -32602 })
  }
})
