import { generateKeyPairSigner } from "@solana/kit"
import { memo, signTransaction } from "@svc/testing/solana"

export const signedTransaction = async (...given: Parameters<typeof signTransaction>): Promise<string> =>
  (await signTransaction(...given)).base64

export const anySigner = generateKeyPairSigner

/** A signed transaction of no meaning. */
export const anyTransaction = async () => signedTransaction(await anySigner(), [memo("any")])

/** A signed transaction of one instruction, of exactly `size` bytes. */
export const transactionOfSize = async (size: number): Promise<string> => {
  const payer = await anySigner()
  const sizeWith = async (bytes: number) => {
    const wire = await signedTransaction(payer, [memo(new Uint8Array(bytes).fill(65))])
    return { wire, size: Buffer.from(wire, "base64").length }
  }
  const probe = await sizeWith(500)
  const { wire, size: got } = await sizeWith(500 + size - probe.size)
  if (got !== size) throw new Error(`made ${got} bytes instead of ${size}`)
  return wire
}
