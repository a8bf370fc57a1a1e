import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit"
import { memo, signTransaction } from "@svc/testing/solana"

const payer = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(7))

/** A signed memo, and the signature that kit says it has. */
export const signedMemo = (text = "hello") => signTransaction(payer, [memo(text)])
