import {
  type Address,
  getCompiledTransactionMessageDecoder,
  getPublicKeyFromAddress,
  isAddress,
  isSignature,
  signatureBytes,
  verifySignature,
} from "@solana/kit"
import { base58, isBase58Text } from "./base58.ts"
import { badRequest } from "./errors.ts"

/** How much is checked before the provider: nothing more, the message's structure, or also every signature. */
export type Verify = "none" | "structure" | "signatures"

const signatureLength = 64
const maxSignatures = 64

const messages = getCompiledTransactionMessageDecoder()

export const isBase58Address = isAddress

// The library throws at a character outside the alphabet once the length is right; for addresses it doesn't.
export const isBase58Signature = (text: string): boolean => isBase58Text(text) && isSignature(text)

/** Decodes canonical base64 of at most `maxBytes` bytes; `path` names the field in the refusal. */
export const decodeBase64 = (text: string, path: string, maxBytes: number): Uint8Array => {
  const bytes = Buffer.from(text, "base64")
  // Node's decoder forgives whitespace, missing padding and stray bits; only the canonical text comes back the same.
  if (bytes.toString("base64") !== text) throw badRequest("invalid_base64", path, "must be canonical, padded base64")
  if (bytes.length > maxBytes) {
    throw badRequest("transaction_too_large", path, `must decode to at most ${maxBytes} bytes, has ${bytes.length}`)
  }
  return bytes
}

const refuse = (path: string, reason: string) => badRequest("invalid_transaction", path, reason)

// A minimal compact-u16 of at most 64 is one byte.
const signatureCount = (bytes: Uint8Array): number => {
  const count = bytes[0] ?? 0
  if (count < 1 || count > maxSignatures) throw refuse("transaction", "must start with a signature count from 1 to 64")
  if (bytes.length <= 1 + count * signatureLength) throw refuse("transaction", "ends before its message")
  return count
}

const signatureAt = (bytes: Uint8Array, index: number): Uint8Array =>
  bytes.subarray(1 + index * signatureLength, 1 + (index + 1) * signatureLength)

const messageOf = (bytes: Uint8Array, count: number): Uint8Array => bytes.subarray(1 + count * signatureLength)

const readMessage = (bytes: Uint8Array, path: string) => {
  // At the end of its input the decoder takes a list whose length is missing for an empty one. With a zero after the end
  // it reads that as the length, and so past the end.
  const padded = new Uint8Array(bytes.length + 1)
  padded.set(bytes)
  let message
  let end
  try {
    ;[message, end] = messages.read(padded, 0)
  } catch {
    throw refuse(path, "its message cannot be decoded")
  }
  if (message.version === 1) throw refuse(path, "its message is neither legacy nor version 0")
  if (end > bytes.length) throw refuse(path, "its message lacks bytes")
  if (end < bytes.length) throw refuse(path, "its message has trailing bytes")
  return message
}

/** Checks a message for its fee. */
export const checkMessage = (bytes: Uint8Array, verify: Verify): void => {
  if (bytes.length === 0) throw refuse("message", "must not be empty")
  if (verify !== "none") readMessage(bytes, "message")
}

/** Checks a transaction, signed or not; returns its signers where the message was read. */
export const checkTransaction = (bytes: Uint8Array, verify: Verify): readonly Address[] => {
  const count = signatureCount(bytes)
  if (verify === "none") return []
  const { header, staticAccounts } = readMessage(messageOf(bytes, count), "transaction")
  if (header.numSignerAccounts !== count) {
    throw refuse("transaction", `has ${count} signatures, its message demands ${header.numSignerAccounts}`)
  }
  if (staticAccounts.length < count) throw refuse("transaction", "has fewer accounts than signatures")
  return staticAccounts.slice(0, count)
}

/** Checks that a transaction can be submitted, and derives its id: the first signature, in base58. */
export const checkSigned = async (bytes: Uint8Array, verify: Verify): Promise<string> => {
  const count = signatureCount(bytes)
  for (let index = 0; index < count; index++) {
    if (signatureAt(bytes, index).every((byte) => byte === 0)) {
      throw badRequest("unsigned_transaction", "transaction", `signature ${index} is all zeros`)
    }
  }
  const signers = checkTransaction(bytes, verify)
  if (verify === "signatures") {
    for (const [index, signer] of signers.entries()) {
      if (!(await isSignedBy(signer, signatureAt(bytes, index), messageOf(bytes, count)))) {
        throw badRequest("signature_verification_failed", "transaction", `signature ${index} does not verify`)
      }
    }
  }
  return base58(signatureAt(bytes, 0))
}

const isSignedBy = async (signer: Address, signature: Uint8Array, message: Uint8Array): Promise<boolean> => {
  try {
    return await verifySignature(await getPublicKeyFromAddress(signer), signatureBytes(signature), message)
  } catch {
    // An address that is no point of the curve has no signatures.
    return false
  }
}
