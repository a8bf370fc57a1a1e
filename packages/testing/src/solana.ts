// Signed transactions for tests, made by kit.
import * as kit from "@solana/kit"

export const systemProgram = kit.address("11111111111111111111111111111111")
const memoProgram = kit.address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")
const anyBlockhash = "EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N"

/** Little-endian bytes: bigint takes eight, number four. */
export const littleEndian = (...parts: readonly (number | bigint)[]): Uint8Array => {
  const [u32, u64] = [kit.getU32Encoder(), kit.getU64Encoder()]
  return Buffer.concat(parts.map((part) => Uint8Array.from((typeof part === "bigint" ? u64 : u32).encode(part))))
}

/** A call of a program, with its accounts in their order. */
export const call = (
  programAddress: kit.Address,
  data: Iterable<number>,
  ...accounts: readonly (readonly [of: string, role: kit.AccountRole])[]
) => ({
  programAddress,
  accounts: accounts.map(([of, role]) => ({ address: kit.address(of), role })),
  data: Uint8Array.from(data),
})

/** An instruction that transfers lamports. */
export const transfer = (from: string, to: string, lamports: bigint): kit.Instruction => {
  const { WRITABLE, WRITABLE_SIGNER } = kit.AccountRole
  return call(systemProgram, littleEndian(2, lamports), [from, WRITABLE_SIGNER], [to, WRITABLE])
}

/** An instruction of the memo program, which no account signs. */
export const memo = (content: string | Uint8Array): kit.Instruction => ({
  programAddress: memoProgram,
  data: typeof content === "string" ? new TextEncoder().encode(content) : content,
})

/** Enough for a transfer or a memo. A version 1 transaction that names no limits has none to spend. */
export const usualLimits = { computeUnitLimit: 200_000, loadedAccountsDataSizeLimit: 1_000_000 }

/**
 * A transaction, signed by its payer and by others that its instructions carry as signers: base64, and the signature that kit
 * says it has.
 * @param tables lookup tables that a message of version 0 uses
 * @param config limits and fees of version 1
 */
export const signTransaction = async (
  payer: kit.KeyPairSigner,
  instructions: readonly kit.Instruction[],
  {
    blockhash = anyBlockhash,
    version = 0,
    tables = {},
    config = usualLimits,
  }: {
    readonly blockhash?: string
    readonly version?: "legacy" | 0 | 1
    readonly tables?: Record<kit.Address, kit.Address[]>
    readonly config?: kit.V1TransactionConfig
  } = {},
): Promise<{ readonly base64: kit.Base64EncodedWireTransaction; readonly signature: kit.Signature }> => {
  const lifetime = { blockhash: kit.blockhash(blockhash), lastValidBlockHeight: 0n }
  const empty = {
    legacy: kit.createTransactionMessage({ version: "legacy" }),
    0: kit.createTransactionMessage({ version: 0 }),
    1: kit.setTransactionMessageConfig(config, kit.createTransactionMessage({ version: 1 })),
  }[version]
  const whole = kit.pipe(
    kit.setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => kit.setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => kit.appendTransactionMessageInstructions(instructions, timed),
  )
  const message = whole.version === 0 ? kit.compressTransactionMessageUsingAddressLookupTables(whole, tables) : whole
  const signed = await kit.partiallySignTransactionMessageWithSigners(message)
  return { base64: kit.getBase64EncodedWireTransaction(signed), signature: kit.getSignatureFromTransaction(signed) }
}

/** The two halves of a transaction, as bytes: its concatenated signatures, which come last in version 1, and its message. */
const halvesOf = (base64: string) => {
  const bytes = Buffer.from(base64, "base64")
  const messageFirst = bytes[0] === 0x81
  const size = (bytes[messageFirst ? 1 : 0] ?? 0) * 64
  const from = messageFirst ? bytes.length - size : 1
  const signatures = bytes.subarray(from, from + size)
  return { bytes, signatures, message: messageFirst ? bytes.subarray(0, from) : bytes.subarray(from + size) }
}

/** The message alone, base64. */
export const messageOf = (base64: string): string => halvesOf(base64).message.toString("base64")

/** The first signature's bytes. */
export const firstSignatureOf = (base64: string): Buffer => halvesOf(base64).signatures.subarray(0, 64)

/** The same transaction with all signatures zero, base64. */
export const unsigned = (base64: string): kit.Base64EncodedWireTransaction => {
  const { bytes, signatures } = halvesOf(base64)
  signatures.fill(0)
  return bytes.toString("base64") as kit.Base64EncodedWireTransaction
}
