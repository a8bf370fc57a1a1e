import {
  type Address,
  getCompiledTransactionMessageDecoder,
  getPublicKeyFromAddress,
  type ReadonlyUint8Array,
  signatureBytes,
  verifySignature,
} from "@solana/kit"
import { base58 } from "@svc/common/base58"
import {
  advanceNonce,
  firstMissingSignature,
  signatureAt,
  systemProgram,
  type TransactionParts,
  transactionParts,
  version1,
} from "@svc/common/transaction-parts"
import { badRequest } from "./errors.ts"

/** The additional checks before the provider: none, the structure of the message, or also every signature. */
export type Verify = "none" | "structure" | "signatures"

const messages = getCompiledTransactionMessageDecoder()

// kit's codecs take five times as long. Buffer accepts what isn't canonical, which is another text after decoding and encoding.
const canonicalBytes = (text: string): Uint8Array | undefined => {
  const bytes = Buffer.from(text, "base64")
  return bytes.toString("base64") === text ? new Uint8Array(bytes) : undefined
}

/** Decodes the canonical base64 of a transaction or a message. @param path the field's name in errors */
export const decodeBase64 = (text: string, path: string, maxBytes: number): Uint8Array => {
  const bytes = canonicalBytes(text)
  if (bytes === undefined) throw badRequest("invalid_base64", path, "must be canonical, padded base64")
  if (bytes.length <= maxBytes) return bytes
  throw badRequest("transaction_too_large", path, `must decode to at most ${maxBytes} bytes, has ${bytes.length}`)
}

const invalid = (path: string, reason: string) => badRequest("invalid_transaction", path, reason)

const readParts = (bytes: Uint8Array): TransactionParts => {
  const parts = transactionParts(bytes)
  if (parts === "too-short") throw invalid("transaction", "ends before its message and signatures do")
  if (parts !== "signature-count") return parts
  throw invalid(
    "transaction",
    bytes[0] === version1
      ? "is of version 1 and must require from 1 to 64 signatures"
      : "must start with a signature count from 1 to 64 (legacy and version 0) or with 0x81 (version 1)",
  )
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

export const checkMessage = (bytes: ReadonlyUint8Array, verify: Verify): void => {
  if (bytes.length === 0) throw invalid("message", "must not be empty")
  if (verify !== "none") readMessage(bytes, "message")
}

/** The signers of a transaction; an empty list if the message isn't to be read. */
const readSigners = (bytes: Uint8Array, { count, message }: TransactionParts, verify: Verify): readonly Address[] => {
  if (verify === "none") return []
  const { header, staticAccounts, version } = readMessage(message, "transaction")
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
export const checkTransaction = (bytes: Uint8Array, verify: Verify): void => {
  readSigners(bytes, readParts(bytes), verify)
}

/** Checks that a transaction can be submitted. Returns its id: the first signature, in base58. */
export const checkSigned = async (bytes: Uint8Array, verify: Verify): Promise<string> => {
  const parts = readParts(bytes)
  const missing = firstMissingSignature(parts)
  if (missing >= 0) throw badRequest("unsigned_transaction", "transaction", `signature ${missing} is all zeros`)
  const signers = readSigners(bytes, parts, verify)
  for (const [index, signer] of verify === "signatures" ? signers.entries() : []) {
    if (!(await isSignedBy(signer, signatureAt(parts, index), parts.message))) {
      throw badRequest("signature_verification_failed", "transaction", `signature ${index} doesn't verify`)
    }
  }
  // kit's encoder takes a tenth of the time of a send.
  return base58(signatureAt(parts, 0))
}

/** Whether a transaction replaces its own blockhash when it lands: then a copy of it gets the error "Blockhash not found". */
export const hasNonce = (bytes: Uint8Array): boolean => {
  try {
    const message = messages.decode(readParts(bytes).message)
    const [program = -1, data] =
      message.version === 1
        ? [message.instructionHeaders[0]?.programAccountIndex, message.instructionPayloads[0]?.instructionData]
        : [message.instructions[0]?.programAddressIndex, message.instructions[0]?.data]
    return message.staticAccounts[program] === systemProgram && data?.slice(0, 4).join() === advanceNonce
  } catch {
    return false
  }
}

const isSignedBy = async (signer: Address, signed: Uint8Array, message: ReadonlyUint8Array): Promise<boolean> => {
  try {
    return await verifySignature(await getPublicKeyFromAddress(signer), signatureBytes(signed), message)
  } catch {
    // An address that isn't a point of the curve has no signatures.
    return false
  }
}
