import { ownError, type SvcError } from "./error.ts"

const signatureLength = 64
const maxSignatures = 64
/** What a packet of the network holds, for legacy and version 0; version 1 may be longer. */
const maxBytes = 1232
const maxBytesOfVersion1 = 4096
const version1 = 0x81

/** A signed transaction, read as far as sending it needs. */
export type Wire = {
  /** Canonical base64. */
  readonly base64: string
  /** The first signature in base58: what the transaction is known by. */
  readonly signature: string
}

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

const base58 = (bytes: Uint8Array): string => {
  let value = 0n
  for (const byte of bytes) value = value * 256n + BigInt(byte)
  let digits = ""
  for (; value > 0n; value /= 58n) digits = (alphabet[Number(value % 58n)] ?? "") + digits
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return "1".repeat(zeros === -1 ? bytes.length : zeros) + digits
}

/** Whether a text is base58 of exactly 64 bytes. */
export const isSignature = (text: string): boolean => {
  if (!/^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(text)) return false
  let value = 0n
  for (const digit of text) value = value * 58n + BigInt(alphabet.indexOf(digit))
  const zeros = text.length - text.replace(/^1+/, "").length
  const size = value === 0n ? 0 : Math.ceil(value.toString(16).length / 2)
  return zeros + size === signatureLength
}

const refusal = (code: string, message: string): SvcError =>
  ownError(code, message, { submissionState: "not_submitted" })

const toBase64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))

const fromBase64 = (text: string): Uint8Array => {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    if (toBase64(bytes) === text) return bytes
  } catch {
    // Said below.
  }
  throw refusal("invalid_base64", "The transaction is not canonical, padded base64")
}

/** Where the signatures of a transaction stand: before its message, or after it (version 1). */
const signaturesOf = (bytes: Uint8Array): Uint8Array => {
  const [first = 0, second = 0] = bytes
  const isVersion1 = first === version1
  const count = isVersion1 ? second : first
  const most = isVersion1 ? maxBytesOfVersion1 : maxBytes
  if (bytes.length > most) {
    throw refusal("transaction_too_large", `The transaction has ${bytes.length} bytes, at most ${most} can be sent`)
  }
  if (count < 1 || count > maxSignatures) {
    throw refusal(
      "invalid_transaction",
      "The bytes are no transaction of a version that is read here: legacy, 0 (a count of 1 to 64 signatures first) or 1 (first byte 0x81)",
    )
  }
  const size = count * signatureLength
  if (bytes.length <= size + (isVersion1 ? 4 : 1)) {
    throw refusal("invalid_transaction", `The transaction ends before its message and ${count} signatures do`)
  }
  return isVersion1 ? bytes.subarray(bytes.length - size) : bytes.subarray(1, 1 + size)
}

/** Reads a signed transaction. Throws SvcError with the relay's codes, before anybody is asked. */
export const readSigned = (transaction: string | Uint8Array): Wire => {
  const bytes = typeof transaction === "string" ? fromBase64(transaction) : transaction
  const signatures = signaturesOf(bytes)
  for (let at = 0; at < signatures.length; at += signatureLength) {
    if (signatures.subarray(at, at + signatureLength).every((byte) => byte === 0)) {
      throw refusal(
        "unsigned_transaction",
        `Signature ${at / signatureLength} of the transaction is missing: sign it first`,
      )
    }
  }
  return { base64: toBase64(bytes), signature: base58(signatures.subarray(0, signatureLength)) }
}

/** Bytes or base64, as base64. */
export const asBase64 = (value: string | Uint8Array): string => (typeof value === "string" ? value : toBase64(value))
