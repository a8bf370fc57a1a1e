import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto"
import * as kit from "@solana/kit"
import type { Block } from "./blocks.ts"
import { invalidParams } from "./rpc.ts"
import { systemProgram, type Svm } from "./transactions/svm.ts"
import { base58 } from "@svc/common/base58"
import { readWire, type Wire } from "./transactions/wire.ts"

const memoProgram = kit.address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")
// The system program's instruction 2, in lamports.
const transferData = kit.getTupleEncoder([kit.getU32Encoder(), kit.getU64Encoder()])
const funds = 500_000_000n * 1_000_000_000n
// The maximum of one airdrop: the faucet's funds are enough for more of them than fit in a day.
const maxAirdrop = 1_000_000n * 1_000_000_000n

/** An account with 500 million SOL that sends transfers to anyone. Its key is public and always the same. */
export const createFaucet = (svm: Svm) => {
  const seed = createHash("sha256").update("local chain faucet").digest()
  const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed])
  const privateKey = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" })
  const publicKey = createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(-32)
  const own = kit.address(base58(publicKey))
  svm.fund(own, funds)
  let count = 0

  return {
    /** A signed transfer, in lamports. Each has a number, so two requests in one block make two transfers. */
    transfer: (to: kit.Address, amount: bigint, { blockhash: hash, height }: Block): Wire => {
      if (amount > maxAirdrop) throw invalidParams(`an airdrop gives at most ${maxAirdrop} lamports`)
      count += 1
      const instructions = [
        {
          programAddress: systemProgram,
          accounts: [
            { address: own, role: kit.AccountRole.WRITABLE_SIGNER },
            { address: to, role: kit.AccountRole.WRITABLE },
          ],
          data: transferData.encode([2, amount]),
        },
        { programAddress: memoProgram, data: new TextEncoder().encode(`airdrop ${count}`) },
      ]
      const lifetime = { blockhash: kit.blockhash(hash), lastValidBlockHeight: height }
      const compiled = kit.pipe(
        kit.createTransactionMessage({ version: "legacy" }),
        (empty) => kit.setTransactionMessageFeePayer(own, empty),
        (paid) => kit.setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
        (timed) => kit.appendTransactionMessageInstructions(instructions, timed),
        kit.compileTransaction,
      )
      const bytes: Uint8Array = sign(null, Uint8Array.from(compiled.messageBytes), privateKey)
      const signature = bytes as kit.SignatureBytes
      return readWire(kit.getBase64EncodedWireTransaction({ ...compiled, signatures: { [own]: signature } }))
    },
  }
}
