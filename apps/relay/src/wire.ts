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

/** The first byte of version 1: of its message, which stands before its signatures. */
const versionOne = 0x81
/** A packet of the network: what a transaction of the older versions must fit into. */
const packetBytes = 1232
/** The largest transaction of any version, in bytes. */
export const largestTransaction = 4096

/**
 * Decodes the canonical base64 of a transaction or a message; `path` names the field in the refusal.
 * @param maxBytes for version 1; the older ones stay at a packet's 1,232 bytes
 */
export const decodeBase64 = (text: string, path: string, maxBytes: number): Uint8Array => {
  const bytes = Buffer.from(text, "base64")
  // Node's decoder forgives whitespace, missing padding and stray bits; only the canonical text comes back the same.
  if (bytes.toString("base64") !== text) throw badRequest("invalid_base64", path, "must be canonical, padded base64")
  const limit = bytes[0] === versionOne ? maxBytes : Math.min(maxBytes, packetBytes)
  if (bytes.length > limit) {
    throw badRequest("transaction_too_large", path, `must decode to at most ${limit} bytes, has ${bytes.length}`)
  }
  return bytes
}

const refuse = (path: string, reason: string) => badRequest("invalid_transaction", path, reason)

/** A transaction's parts: its signatures, 64 bytes each, one after the other, and its message. */
type Envelope = { readonly count: number; readonly signatures: Uint8Array; readonly message: Uint8Array }

const headerBytes = 4

const readEnvelope = (bytes: Uint8Array): Envelope => {
  const first = bytes[0] ?? 0
  const messageFirst = first === versionOne
  // Of the older versions a minimal compact-u16 of at most 64, which is one byte.
  const count = messageFirst ? (bytes[1] ?? 0) : first
  if (count < 1 || count > maxSignatures) {
    throw refuse(
      "transaction",
      messageFirst
        ? "is of version 1 and must demand from 1 to 64 signatures"
        : "must start with a signature count from 1 to 64 (legacy and version 0) or with 0x81 (version 1)",
    )
  }
  const size = count * signatureLength
  const least = messageFirst ? headerBytes : 2
  if (bytes.length < size + least) throw refuse("transaction", "ends before its message and signatures do")
  if (messageFirst) return { count, signatures: bytes.subarray(-size), message: bytes.subarray(0, -size) }
  return { count, signatures: bytes.subarray(1, 1 + size), message: bytes.subarray(1 + size) }
}

const signatureAt = ({ signatures }: Envelope, index: number): Uint8Array =>
  signatures.subarray(index * signatureLength, (index + 1) * signatureLength)

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
const readSigners = (bytes: Uint8Array, { count, message }: Envelope, verify: Verify): readonly Address[] => {
  if (verify === "none") return []
  const { header, staticAccounts, version } = readMessage(message, "transaction")
  if (version === 1 && bytes[0] !== versionOne) {
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
  readSigners(bytes, readEnvelope(bytes), verify)
}

/** Checks that a transaction can be submitted, and derives its id: the first signature, in base58. */
export const checkSigned = async (bytes: Uint8Array, verify: Verify): Promise<string> => {
  const envelope = readEnvelope(bytes)
  for (let index = 0; index < envelope.count; index++) {
    if (signatureAt(envelope, index).every((byte) => byte === 0)) {
      throw badRequest("unsigned_transaction", "transaction", `signature ${index} is all zeros`)
    }
  }
  const signers = readSigners(bytes, envelope, verify)
  if (verify === "signatures") {
    for (const [index, signer] of signers.entries()) {
      if (!(await isSignedBy(signer, signatureAt(envelope, index), envelope.message))) {
        throw badRequest("signature_verification_failed", "transaction", `signature ${index} does not verify`)
      }
    }
  }
  return base58(signatureAt(envelope, 0))
}

const isSignedBy = async (signer: Address, signature: Uint8Array, message: Uint8Array): Promise<boolean> => {
  try {
    return await verifySignature(await getPublicKeyFromAddress(signer), signatureBytes(signature), message)
  } catch {
    // An address that is no point of the curve has no signatures.
    return false
  }
}
