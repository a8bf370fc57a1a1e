import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto"
import {
  address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransaction,
  createTransactionMessage,
  AccountRole,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  type Address,
} from "@solana/kit"
import type { Block } from "./blocks.ts"
import { invalidParams } from "./errors.ts"
import { systemProgram, type Svm } from "./svm.ts"
import { base58 } from "@svc/common/base58"
import { base64, readWire, type Wire } from "./wire.ts"

const memoProgram = address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")
const funds = 500_000_000n * 1_000_000_000n
// The most one airdrop gives: the faucet's own funds outlast any number of them that a day holds.
const maxAirdrop = 1_000_000n * 1_000_000_000n

/** An account with 500 million SOL that sends transfers to anyone. Its key is public and always the same. */
export const createFaucet = (svm: Svm) => {
  const seed = createHash("sha256").update("local chain faucet").digest()
  const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed])
  const privateKey = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" })
  const publicKey = createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(-32)
  const own = address(base58(publicKey))
  svm.fund(own, funds)
  let count = 0

  return {
    /** A signed transfer, in lamports. Each carries a number, so that asking twice in one block gives twice. */
    transfer: (to: Address, amount: bigint, { blockhash: hash, height }: Block): Wire => {
      if (amount > maxAirdrop) throw invalidParams(`an airdrop gives at most ${maxAirdrop} lamports`)
      const data = new Uint8Array(12)
      const view = new DataView(data.buffer)
      view.setUint32(0, 2, true) // the system program's transfer
      view.setBigUint64(4, amount, true)
      count += 1
      const memo = new TextEncoder().encode(`airdrop ${count}`)
      const { messageBytes } = pipe(
        createTransactionMessage({ version: "legacy" }),
        (message) => setTransactionMessageFeePayer(own, message),
        (message) =>
          setTransactionMessageLifetimeUsingBlockhash(
            { blockhash: blockhash(hash), lastValidBlockHeight: height },
            message,
          ),
        (message) =>
          appendTransactionMessageInstructions(
            [
              {
                programAddress: systemProgram,
                accounts: [
                  { address: own, role: AccountRole.WRITABLE_SIGNER },
                  { address: to, role: AccountRole.WRITABLE },
                ],
                data,
              },
              { programAddress: memoProgram, data: memo },
            ],
            message,
          ),
        compileTransaction,
      )
      const signature = sign(null, Uint8Array.from(messageBytes), privateKey)
      return readWire(base64(Buffer.concat([Uint8Array.of(1), signature, Uint8Array.from(messageBytes)])), "base64")
    },
  }
}
