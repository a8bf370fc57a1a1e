import {
  firstMissingSignature,
  signatureAt,
  sizeLimit,
  transactionParts,
  type TransactionParts,
  version1,
} from "@svc/common/transaction-parts"
import { base58 } from "@svc/common/base58"
import {
  type Address,
  getCompiledTransactionMessageDecoder,
  getPublicKeyFromAddress,
  signatureBytes,
  verifySignature,
} from "@solana/kit"
import { badRequest } from "./errors.ts"

/** How much is checked before the provider: nothing more, the message's structure, or also every signature. */
export type Verify = "none" | "structure" | "signatures"

const messages = getCompiledTransactionMessageDecoder()

/**
 * Decodes the canonical base64 of a transaction or a message; `path` names the field in the refusal.
 * @param maxBytes for version 1; the older ones stay at a packet's 1,232 bytes
 */
export const decodeBase64 = (text: string, path: string, maxBytes: number): Uint8Array => {
  const bytes = Buffer.from(text, "base64")
  // Node's decoder forgives whitespace, missing padding and stray bits; only the canonical text comes back the same.
  if (bytes.toString("base64") !== text) throw badRequest("invalid_base64", path, "must be canonical, padded base64")
  const limit = sizeLimit(bytes, maxBytes)
  if (bytes.length > limit) {
    throw badRequest("transaction_too_large", path, `must decode to at most ${limit} bytes, has ${bytes.length}`)
  }
  return bytes
}

const refuse = (path: string, reason: string) => badRequest("invalid_transaction", path, reason)

const readParts = (bytes: Uint8Array): TransactionParts => {
  const parts = transactionParts(bytes)
  if (parts === "too-short") throw refuse("transaction", "ends before its message and signatures do")
  if (parts !== "signature-count") return parts
  throw refuse(
    "transaction",
    bytes[0] === version1
      ? "is of version 1 and must demand from 1 to 64 signatures"
      : "must start with a signature count from 1 to 64 (legacy and version 0) or with 0x81 (version 1)",
  )
}

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
    throw refuse(path, "its message cannot be decoded as legacy, version 0 or version 1")
  }
  if (end > bytes.length) throw refuse(path, "its message lacks bytes")
  if (end < bytes.length) throw refuse(path, "its message has trailing bytes")
  return message
}

/** Checks a message for its fee. */
export const checkMessage = (bytes: Uint8Array, verify: Verify): void => {
  if (bytes.length === 0) throw refuse("message", "must not be empty")
  if (verify !== "none") readMessage(bytes, "message")
}

/** The signers of a transaction; none where the message is not to be read. */
const readSigners = (bytes: Uint8Array, { count, message }: TransactionParts, verify: Verify): readonly Address[] => {
  if (verify === "none") return []
  const { header, staticAccounts, version } = readMessage(message, "transaction")
  if (version === 1 && bytes[0] !== version1) {
    throw refuse("transaction", "its message is of version 1, which must come before the signatures")
  }
  if (header.numSignerAccounts !== count) {
    throw refuse("transaction", `has ${count} signatures, its message demands ${header.numSignerAccounts}`)
  }
  if (staticAccounts.length < count) throw refuse("transaction", "has fewer accounts than signatures")
  return staticAccounts.slice(0, count)
}

/** Checks a transaction, signed or not. */
export const checkTransaction = (bytes: Uint8Array, verify: Verify): void => {
  readSigners(bytes, readParts(bytes), verify)
}

/** Checks that a transaction can be submitted, and derives its id: the first signature, in base58. */
export const checkSigned = async (bytes: Uint8Array, verify: Verify): Promise<string> => {
  const parts = readParts(bytes)
  const missing = firstMissingSignature(parts)
  if (missing >= 0) throw badRequest("unsigned_transaction", "transaction", `signature ${missing} is all zeros`)
  const signers = readSigners(bytes, parts, verify)
  if (verify === "signatures") {
    for (const [index, signer] of signers.entries()) {
      if (!(await isSignedBy(signer, signatureAt(parts, index), parts.message))) {
        throw badRequest("signature_verification_failed", "transaction", `signature ${index} does not verify`)
      }
    }
  }
  return base58(signatureAt(parts, 0))
}

const isSignedBy = async (signer: Address, signature: Uint8Array, message: Uint8Array): Promise<boolean> => {
  try {
    return await verifySignature(await getPublicKeyFromAddress(signer), signatureBytes(signature), message)
  } catch {
    // An address that is no point of the curve has no signatures.
    return false
  }
}
