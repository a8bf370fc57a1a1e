import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  lamports,
  partiallySignTransactionMessageWithSigners,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit"
import { startLocalChain } from "@svc/local-chain"

const slotMs = 400
export const systemProgram = address("11111111111111111111111111111111")

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
      const message = pipe(
        createTransactionMessage({ version: 0 }),
        (empty) => setTransactionMessageFeePayerSigner(payer, empty),
        (paid) => setTransactionMessageLifetimeUsingBlockhash(latest, paid),
        (timed) => appendTransactionMessageInstructions(instructions, timed),
      )
      const wire = getBase64EncodedWireTransaction(await partiallySignTransactionMessageWithSigners(message))
      return rpc.sendTransaction(wire, { encoding: "base64", skipPreflight: true }).send()
    },
  }
}

export type TestChain = Awaited<ReturnType<typeof startChain>>

/** Little-endian bytes: bigint takes eight, number four. */
export const bytes = (...parts: (number | bigint)[]): Uint8Array =>
  Uint8Array.from(
    Buffer.concat(
      parts.map((part) => {
        const buffer = Buffer.alloc(typeof part === "bigint" ? 8 : 4)
        if (typeof part === "bigint") buffer.writeBigUInt64LE(part)
        else buffer.writeUInt32LE(part)
        return buffer
      }),
    ),
  )

export const transfer = (from: string, to: string, amount: bigint): Instruction => ({
  programAddress: systemProgram,
  accounts: [
    { address: address(from), role: AccountRole.WRITABLE_SIGNER },
    { address: address(to), role: AccountRole.WRITABLE },
  ],
  data: bytes(2, amount),
})
