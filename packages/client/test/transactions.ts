import { AccountRole, createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit"
import { call, littleEndian, memo, signTransaction, systemProgram } from "@svc/testing/solana"

const payer = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(7))

/** A signed memo of the version, and the signature that kit says it has. */
export const signedMemo = (version: "legacy" | 0 | 1, text = "hello") =>
  signTransaction(payer, [memo(text)], { version })

/** A signed transaction that begins with the system program's AdvanceNonceAccount. */
export const signedNonce = (version: "legacy" | 0 | 1) => {
  const advance = call(systemProgram, littleEndian(4), [payer.address, AccountRole.WRITABLE_SIGNER])
  return signTransaction(payer, [advance, memo("hello")], { version })
}
