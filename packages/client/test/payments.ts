import { createPrivateKey, createPublicKey, randomBytes, sign } from "node:crypto"
import { base58 } from "@svc/common/base58"

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const systemProgram = new Uint8Array(32)

/** The 32 bytes of a key or a blockhash. */
const keyBytes = (text: string): Buffer => {
  let value = 0n
  for (const digit of text) value = value * 58n + BigInt(alphabet.indexOf(digit))
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex")
}

export const newAddress = (): string => base58(randomBytes(32))

export type Transfer = { readonly recipient: string; readonly lamports: bigint; readonly blockhash: string }

/** A wallet that signs transfers without a Solana library: it starts faster. */
export const createPayer = (seed: Uint8Array = randomBytes(32)) => {
  const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed])
  const key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" })
  const own = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32)
  return {
    address: base58(own),
    /** A legacy transaction of one transfer. */
    transfer: ({ recipient, lamports, blockhash }: Transfer): Uint8Array => {
      const data = Buffer.alloc(12)
      data.writeUInt32LE(2)
      data.writeBigUInt64LE(lamports, 4)
      const keys = [own, keyBytes(recipient), systemProgram]
      const instruction = [1, 2, 2, 0, 1, data.length, ...data]
      const message = Buffer.concat([
        Buffer.from([1, 0, 1, keys.length]),
        ...keys,
        keyBytes(blockhash),
        Buffer.from(instruction),
      ])
      return Buffer.concat([Buffer.from([1]), sign(null, message, key), message])
    },
  }
}

/** The parts of a message that `createPayer` signed. */
export const messageParts = (message: string | Uint8Array) => {
  const bytes = typeof message === "string" ? Buffer.from(message, "base64") : message
  return { recipient: base58(bytes.subarray(36, 68)), blockhash: base58(bytes.subarray(100, 132)) }
}

/** The parts of a transaction that `createPayer` signed. */
export const partsOf = (base64: string) => {
  const bytes = Buffer.from(base64, "base64")
  return { signature: base58(bytes.subarray(1, 65)), ...messageParts(bytes.subarray(65)) }
}
