import { base58 } from "@svc/common/base58"
import {
  firstMissingSignature,
  signatureAt,
  sizeLimit,
  transactionParts,
  type TransactionParts,
} from "@svc/common/transaction-parts"
import { ownError, type SvcError } from "../http/error.ts"

/** A signed transaction, read as far as sending it needs. */
export type Wire = {
  /** Canonical base64. */
  readonly base64: string
  /** The first signature in base58: what the transaction is known by. */
  readonly signature: string
  /** Its bytes. */
  readonly signed: Uint8Array
  /** What the signatures sign. */
  readonly message: Uint8Array
}

/** An error that proves that nothing was sent. */
export const refusal = (code: string, message: string, details?: unknown): SvcError =>
  ownError(code, message, { submissionState: "not_submitted", details })

/** An error that stops a call before it sends anything, about a stored payment that may still land or have landed. */
export const stoppedError = (code: string, message: string, details?: unknown): SvcError =>
  ownError(code, `This call sent nothing: ${message}`, { details })

export const toBase64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))

const fromBase64 = (text: string): Uint8Array => {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    if (toBase64(bytes) === text) return bytes
  } catch {
    // Said below.
  }
  throw refusal("invalid_base64", "The transaction must be bytes or base64")
}

const partsOf = (bytes: Uint8Array): TransactionParts => {
  const most = sizeLimit(bytes)
  if (bytes.length > most) {
    throw refusal("transaction_too_large", `The transaction has ${bytes.length} bytes, at most ${most} fit`)
  }
  const parts = transactionParts(bytes)
  if (parts === "signature-count") {
    throw refusal("invalid_transaction", "The bytes aren't a transaction of version legacy, 0 or 1")
  }
  if (parts === "too-short") {
    throw refusal("invalid_transaction", "The transaction is cut off")
  }
  return parts
}

/** Reads a signed transaction. Throws SvcError with the relay's codes, before anybody is asked. */
export const readSigned = (transaction: string | Uint8Array): Wire => {
  const bytes = ArrayBuffer.isView(transaction) ? transaction : fromBase64(transaction)
  const parts = partsOf(bytes)
  const missing = firstMissingSignature(parts)
  if (missing >= 0) {
    throw refusal("unsigned_transaction", `Signature ${missing} is missing: sign it first`)
  }
  const signed = signatureAt(parts, 0)
  return { base64: toBase64(bytes), signature: base58(signed), signed, message: parts.message }
}

/** Bytes or base64, as base64. */
export const asBase64 = (value: string | Uint8Array): string => (typeof value === "string" ? value : toBase64(value))
