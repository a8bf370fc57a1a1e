import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstruction,
  type Blockhash,
  createKeyPairSignerFromPrivateKeyBytes,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit"

const payer = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(7))

const memo = (text: string) => ({
  programAddress: address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
  accounts: [{ address: payer.address, role: AccountRole.READONLY_SIGNER }],
  data: new TextEncoder().encode(text),
})

/** A signed memo of the version, and the signature that kit says it has. */
export const signedMemo = async (version: "legacy" | 0 | 1, text = "hello") => {
  const blockhash = "EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N" as Blockhash
  const lifetime = { blockhash, lastValidBlockHeight: 0n }
  const legacy = pipe(
    createTransactionMessage({ version: "legacy" }),
    (empty) => setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstruction(memo(text), timed),
  )
  const v0 = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstruction(memo(text), timed),
  )
  const v1 = pipe(
    createTransactionMessage({ version: 1 }),
    (empty) => setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstruction(memo(text), timed),
  )
  const message = { legacy, 0: v0, 1: v1 }[version]
  const signed = await signTransactionMessageWithSigners(message)
  return { base64: getBase64EncodedWireTransaction(signed), signature: getSignatureFromTransaction(signed) }
}

/** A signed transfer, and the signature that kit says it has. */
export const signedTransfer = async (
  from: KeyPairSigner,
  to: Address,
  lamports: bigint,
  blockhash: string,
): Promise<{ base64: string; signature: string }> => {
  const data = new DataView(new ArrayBuffer(12))
  data.setUint32(0, 2, true)
  data.setBigUint64(4, lamports, true)
  const transfer = {
    programAddress: address("11111111111111111111111111111111"),
    accounts: [
      { address: from.address, role: AccountRole.WRITABLE_SIGNER },
      { address: to, role: AccountRole.WRITABLE },
    ],
    data: new Uint8Array(data.buffer),
  }
  const lifetime = { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n }
  const signed = await signTransactionMessageWithSigners(
    pipe(
      createTransactionMessage({ version: 0 }),
      (empty) => setTransactionMessageFeePayerSigner(from, empty),
      (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
      (timed) => appendTransactionMessageInstruction(transfer, timed),
    ),
  )
  return { base64: getBase64EncodedWireTransaction(signed), signature: getSignatureFromTransaction(signed) }
}

/** The message's bytes alone, base64; of a transaction with one signature. */
export const messageOf = (base64: string): string => Buffer.from(base64, "base64").subarray(65).toString("base64")
