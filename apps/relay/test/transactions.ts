import {
  type Address,
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  blockhash,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageConfig,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit"

const anyBlockhash = "EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N"
const memoProgram = address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")
const systemProgram = address("11111111111111111111111111111111")

export const memo = (data: Uint8Array): Instruction => ({ programAddress: memoProgram, data })

export const transfer = (from: Address, to: Address, lamports: bigint): Instruction => {
  const data = new DataView(new ArrayBuffer(12))
  data.setUint32(0, 2, true)
  data.setBigUint64(4, lamports, true)
  return {
    programAddress: systemProgram,
    accounts: [
      { address: from, role: AccountRole.WRITABLE_SIGNER },
      { address: to, role: AccountRole.WRITABLE },
    ],
    data: new Uint8Array(data.buffer),
  }
}

/** A transaction signed by its payer, and by others that its instructions carry as signers; base64. */
export const signedTransaction = async (
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
  { hash = anyBlockhash, version = 0 }: { hash?: string; version?: "legacy" | 0 | 1 } = {},
): Promise<string> => {
  const lifetime = { blockhash: blockhash(hash), lastValidBlockHeight: 0n }
  const legacy = pipe(
    createTransactionMessage({ version: "legacy" }),
    (empty) => setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstructions([...instructions], timed),
  )
  const v0 = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstructions([...instructions], timed),
  )
  const v1 = pipe(
    createTransactionMessage({ version: 1 }),
    (empty) => setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstructions([...instructions], timed),
    (whole) =>
      setTransactionMessageConfig({ computeUnitLimit: 200_000, loadedAccountsDataSizeLimit: 1_000_000 }, whole),
  )
  const message = version === 1 ? v1 : version === 0 ? v0 : legacy
  return getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message))
}

export const anySigner = generateKeyPairSigner

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

/** Where the signatures of a transaction stand: from, to. Those of version 1 come last. */
const signaturesAt = (bytes: Buffer): [number, number] =>
  bytes[0] === 0x81 ? [bytes.length - (bytes[1] ?? 0) * 64, bytes.length] : [1, 1 + (bytes[0] ?? 0) * 64]

/** The message's bytes alone, base64. */
export const messageOf = (wire: string): string => {
  const bytes = Buffer.from(wire, "base64")
  const [from, to] = signaturesAt(bytes)
  return (bytes[0] === 0x81 ? bytes.subarray(0, from) : bytes.subarray(to)).toString("base64")
}

/** The first signature's bytes. */
export const firstSignatureOf = (wire: string): Buffer => {
  const bytes = Buffer.from(wire, "base64")
  const [from] = signaturesAt(bytes)
  return bytes.subarray(from, from + 64)
}

/** The same transaction with all signatures zero, base64. */
export const unsigned = (wire: string): string => {
  const bytes = Buffer.from(wire, "base64")
  return bytes.fill(0, ...signaturesAt(bytes)).toString("base64")
}
