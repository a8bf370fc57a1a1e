import { createSolanaRpc, generateKeyPairSigner, type Instruction, type KeyPairSigner, lamports } from "@solana/kit"
import { signTransaction } from "@svc/testing/solana"
import { startLocalChain } from "@svc/local-chain"

const slotMs = 400

/** A chain whose clock stands still until it is moved. */
export const startChain = async (clock = { now: Date.parse("2026-01-01T00:00:00Z") }) => {
  const chain = await startLocalChain({ host: "127.0.0.1", port: 0, now: () => clock.now })
  const rpc = createSolanaRpc(chain.url)
  return {
    ...chain,
    rpc,
    pass: (slots = 1): void => {
      clock.now += slots * slotMs
    },
    fund: async (amount = 5_000_000_000n): Promise<KeyPairSigner> => {
      const signer = await generateKeyPairSigner()
      await rpc.requestAirdrop(signer.address, lamports(amount), { commitment: "processed" }).send()
      return signer
    },
    /** Signs and sends; gives the signature. It is confirmed one slot later. */
    send: async (payer: KeyPairSigner, ...instructions: Instruction[]): Promise<string> => {
      const { value: latest } = await rpc.getLatestBlockhash({ commitment: "processed" }).send()
      const { base64 } = await signTransaction(payer, instructions, latest)
      return rpc.sendTransaction(base64, { encoding: "base64", skipPreflight: true }).send()
    },
  }
}

export type TestChain = Awaited<ReturnType<typeof startChain>>
