import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit"
import { memo, signTransaction } from "@svc/testing/solana"

const payer = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(7))

/** A signed memo of the version, and the signature that kit says it has. */
export const signedMemo = (version: "legacy" | 0 | 1, text = "hello") =>
  signTransaction(payer, [memo(text)], { version })
