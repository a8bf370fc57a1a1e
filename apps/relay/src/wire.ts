import {
  type Address,
  fixDecoderSize,
  getArrayDecoder,
  getBytesDecoder,
  getCompiledTransactionMessageDecoder,
  getPublicKeyFromAddress,
  getShortU16Decoder,
  isSignature as isSignatureText,
  type ReadonlyUint8Array,
  signatureBytes,
  verifySignature,
} from "@solana/kit"
import { base58 } from "@svc/common/base58"
import { version1 } from "@svc/common/transaction-parts"
import { badRequest } from "./errors.ts"

/** The additional checks before the provider: none, the structure of the message, or also every signature. */
export type Verify = "none" | "structure" | "signatures"

/** A transaction's signatures and its message. */
type Parts = { readonly signatures: readonly ReadonlyUint8Array[]; readonly message: ReadonlyUint8Array }

const count16 = getShortU16Decoder()
const signature = fixDecoderSize(getBytesDecoder(), 64)
const messages = getCompiledTransactionMessageDecoder()

const maxSignatures = 64
const headerBytes = 4

// kit's codecs take five times as long. Buffer accepts what isn't canonical, which is another text after decoding and encoding.
const canonicalBytes = (text: string): ReadonlyUint8Array | undefined => {
  const bytes = Buffer.from(text, "base64")
  return bytes.toString("base64") === text ? new Uint8Array(bytes) : undefined
}

/** Decodes the canonical base64 of a transaction or a message. @param path the field's name in errors */
export const decodeBase64 = (text: string, path: string, maxBytes: number): ReadonlyUint8Array => {
  const bytes = canonicalBytes(text)
  if (bytes === undefined) throw badRequest("invalid_base64", path, "must be canonical, padded base64")
  if (bytes.length <= maxBytes) return bytes
  throw badRequest("transaction_too_large", path, `must decode to at most ${maxBytes} bytes, has ${bytes.length}`)
}

/** Whether a text is base58 of exactly 64 bytes. */
export const isSignature = (text: string): boolean => {
  try {
    return isSignatureText(text)
  } catch {
    return false
  }
}

const invalid = (path: string, reason: string) => badRequest("invalid_transaction", path, reason)

/** The number of signatures in a transaction; 0 if it isn't written in the fewest bytes. */
const countOf = (bytes: ReadonlyUint8Array): number => {
  if (bytes[0] === version1) return bytes[1] ?? 0
  try {
    const [count, end] = count16.read(bytes, 0)
    return end === 1 ? count : 0
  } catch {
    return 0
  }
}

/** Splits a transaction. kit's decoder also reads the message, and rejects versions that are newer than it. */
const readParts = (bytes: ReadonlyUint8Array): Parts => {
  const isVersion1 = bytes[0] === version1
  const count = countOf(bytes)
  if (count < 1 || count > maxSignatures) {
    throw invalid(
      "transaction",
      isVersion1
        ? "is of version 1 and must require from 1 to 64 signatures"
        : "must start with a signature count from 1 to 64 (legacy and version 0) or with 0x81 (version 1)",
    )
  }
  const size = count * signature.fixedSize
  if (bytes.length <= size + (isVersion1 ? headerBytes : 1)) {
    throw invalid("transaction", "ends before its message and signatures do")
  }
  const from = isVersion1 ? bytes.length - size : 1
  const signatures = getArrayDecoder(signature, { size: count }).decode(bytes, from)
  return { signatures, message: isVersion1 ? bytes.slice(0, from) : bytes.slice(from + size) }
}

const readMessage = (bytes: ReadonlyUint8Array, path: string) => {
  // At the end of its input the decoder accepts a list without a length as empty. With an additional zero it reads that as the
  // length, so it ends after the input.
  const padded = Uint8Array.of(...bytes, 0)
  let message
  let end
  try {
    ;[message, end] = messages.read(padded, 0)
  } catch {
    throw invalid(path, "its message can't be decoded as legacy, version 0 or version 1")
  }
  if (end > bytes.length) throw invalid(path, "its message is too short")
  if (end < bytes.length) throw invalid(path, "its message has trailing bytes")
  return message
}

/** Checks the message of a fee request. */
export const checkMessage = (bytes: ReadonlyUint8Array, verify: Verify): void => {
  if (bytes.length === 0) throw invalid("message", "must not be empty")
  if (verify !== "none") readMessage(bytes, "message")
}

/** The signers of a transaction; an empty list if the message isn't to be read. */
const readSigners = (bytes: ReadonlyUint8Array, parts: Parts, verify: Verify): readonly Address[] => {
  if (verify === "none") return []
  const { length: count } = parts.signatures
  const { header, staticAccounts, version } = readMessage(parts.message, "transaction")
  if (version === 1 && bytes[0] !== version1) {
    throw invalid("transaction", "its message is of version 1, which must come before the signatures")
  }
  if (header.numSignerAccounts !== count) {
    throw invalid("transaction", `has ${count} signatures, but its message requires ${header.numSignerAccounts}`)
  }
  if (staticAccounts.length < count) throw invalid("transaction", "has fewer accounts than signatures")
  return staticAccounts.slice(0, count)
}

/** Checks a transaction, signed or not. */
export const checkTransaction = (bytes: ReadonlyUint8Array, verify: Verify): void => {
  readSigners(bytes, readParts(bytes), verify)
}

/** Checks that a transaction can be submitted. Returns its id: the first signature, in base58. */
export const checkSigned = async (bytes: ReadonlyUint8Array, verify: Verify): Promise<string> => {
  const parts = readParts(bytes)
  const { signatures, message } = parts
  const missing = signatures.findIndex((one) => one.every((byte) => byte === 0))
  if (missing >= 0) throw badRequest("unsigned_transaction", "transaction", `signature ${missing} is all zeros`)
  const signers = readSigners(bytes, parts, verify)
  for (const [index, signer] of verify === "signatures" ? signers.entries() : []) {
    if (!(await isSignedBy(signer, signatures[index], message))) {
      throw badRequest("signature_verification_failed", "transaction", `signature ${index} doesn't verify`)
    }
  }
  // kit's encoder takes a tenth of the time of a send.
  return base58(Uint8Array.from(signatures[0] ?? []))
}

const isSignedBy = async (signer: Address, signed: ReadonlyUint8Array | undefined, message: ReadonlyUint8Array) => {
  try {
    return (
      signed !== undefined &&
      (await verifySignature(await getPublicKeyFromAddress(signer), signatureBytes(signed), message))
    )
  } catch {
    // An address that isn't a point of the curve has no signatures.
    return false
  }
}
