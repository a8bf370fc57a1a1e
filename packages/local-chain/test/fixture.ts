import { address, createSolanaRpc, generateKeyPairSigner, lamports } from "@solana/kit"
import type { Address, Instruction, KeyPairSigner, V1TransactionConfig } from "@solana/kit"
import { littleEndian, signTransaction, usualLimits } from "@svc/testing/solana"
import { startLocalChain } from "../src/index.ts"

const slotMs = 400
const computeBudget = address("ComputeBudget111111111111111111111111111111")

/** A chain on a free port whose clock stops until `pass` moves it by a number of slots. */
export const startChain = async (clock = { now: Date.parse("2026-01-01T00:00:00Z") }) => {
  const chain = await startLocalChain({ host: "127.0.0.1", port: 0, now: () => clock.now })
  const rpc = createSolanaRpc(chain.url)
  const post = (body: string, headers: Record<string, string> = { "content-type": "application/json" }) =>
    fetch(chain.url, { method: "POST", headers, body })
  return {
    ...chain,
    rpc,
    pass: (slots = 1): void => {
      clock.now += slots * slotMs
    },
    fund: async (amount = 5_000_000_000n): Promise<KeyPairSigner> => {
      const signer = await generateKeyPairSigner()
      await rpc.requestAirdrop(signer.address, lamports(amount)).send()
      return signer
    },
    /** Signs and sends without preflight; gives the signature. It is confirmed one slot later. */
    send: async (payer: KeyPairSigner, ...instructions: Instruction[]): Promise<string> => {
      const { value: latest } = await rpc.getLatestBlockhash({ commitment: "processed" }).send()
      const { base64 } = await signTransaction(payer, instructions, latest)
      return rpc.sendTransaction(base64, { encoding: "base64", skipPreflight: true }).send()
    },
    post,
    /** A call as it is on the wire, for details that a client hides. */
    call: async (method: string, ...params: unknown[]) => {
      const answer = await post(JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }))
      return (await answer.json()) as { result?: any; error?: any } // oxlint-disable-line typescript/no-explicit-any
    },
  }
}

export type Chain = Awaited<ReturnType<typeof startChain>>

export const unitPrice = (microLamports: bigint): Instruction => ({
  programAddress: computeBudget,
  data: Uint8Array.of(3, ...littleEndian(microLamports)),
})

export const unitLimit = (units: number): Instruction => ({
  programAddress: computeBudget,
  data: Uint8Array.of(2, ...littleEndian(units)),
})

/** A transaction signed only by its payer, as base64 wire text; a v0 message may use lookup tables. */
export const signed = async (
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
  blockhash: string,
  version: "legacy" | 0 = 0,
  tables: Record<Address, Address[]> = {},
) => (await signTransaction(payer, instructions, { blockhash, version, tables })).base64

/** A version 1 transaction signed only by its payer, with the chain's latest blockhash. */
export const signedV1 = async (
  { rpc }: Chain,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
  config: V1TransactionConfig = usualLimits,
): Promise<string> => {
  const { blockhash } = (await rpc.getLatestBlockhash().send()).value
  return (await signTransaction(payer, instructions, { blockhash, version: 1, config })).base64
}
