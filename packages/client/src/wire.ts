import { ownError, type SvcError } from "./error.ts"

const signatureLength = 64
const maxSignatures = 64
/** What a packet of the network holds, for legacy and version 0; version 1 may be longer. */
const maxBytes = 1232
const maxBytesOfVersion1 = 4096
export const version1 = 0x81

/** A signed transaction, read as far as sending it needs. */
export type Wire = {
  /** Canonical base64. */
  readonly base64: string
  /** The first signature in base58: what the transaction is known by. */
  readonly signature: string
}

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

export const base58 = (bytes: Uint8Array): string => {
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

/** An error that proves that nothing was sent. */
export const refusal = (code: string, message: string, details?: unknown): SvcError =>
  ownError(code, message, { submissionState: "not_submitted", details })

export const toBase64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))

const fromBase64 = (text: string): Uint8Array => {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    if (toBase64(bytes) === text) return bytes
  } catch {
    // Said below.
  }
  throw refusal("invalid_base64", "The transaction is not canonical, padded base64")
}

/** The two parts of a transaction: signatures before the message, or after it (version 1). */
const partsOf = (bytes: Uint8Array): { readonly signatures: Uint8Array; readonly message: Uint8Array } => {
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
  const [from, to] = isVersion1 ? [bytes.length - size, bytes.length] : [1, 1 + size]
  return {
    signatures: bytes.subarray(from, to),
    message: isVersion1 ? bytes.subarray(0, from) : bytes.subarray(to),
  }
}

/** Reads a signed transaction. Throws SvcError with the relay's codes, before anybody is asked. */
export const readSigned = (transaction: string | Uint8Array): Wire => {
  const bytes = typeof transaction === "string" ? fromBase64(transaction) : transaction
  const { signatures } = partsOf(bytes)
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

/** The message of a transaction that `readSigned` has read, from its base64. */
export const messageOf = (base64: string): Uint8Array => partsOf(fromBase64(base64)).message

/** Bytes or base64, as base64. */
export const asBase64 = (value: string | Uint8Array): string => (typeof value === "string" ? value : toBase64(value))
