import { base58Size, isBase58Text } from "./base58.ts"

const signatureBytes = 64
/** The first byte of version 1, whose message comes before the signatures. */
export const version1 = 0x81
/** The largest transaction of any version, in bytes. */
export const largestTransaction = 4096
/** The size of a network packet, which limits transactions of older versions. */
const packetBytes = 1232
const maxSignatures = 64
const headerBytes = 4

/** A transaction's concatenated signatures and its message. */
export type TransactionParts = {
  readonly count: number
  readonly signatures: Uint8Array
  readonly message: Uint8Array
}

/** The maximum size of a transaction or message that starts with this byte. */
export const sizeLimit = (bytes: ArrayLike<number>): number =>
  bytes[0] === version1 ? largestTransaction : packetBytes

/**
 * Splits a transaction of any version. The older versions start with the number of signatures, a compact-u16 of at most 64
 * and so one byte; in version 1 that number is the message's second byte. Returns the name of the problem for invalid bytes.
 */
export const transactionParts = (bytes: Uint8Array): TransactionParts | "signature-count" | "too-short" => {
  const messageFirst = bytes[0] === version1
  const count = bytes[messageFirst ? 1 : 0] ?? 0
  if (count < 1 || count > maxSignatures) return "signature-count"
  const size = count * signatureBytes
  if (bytes.length <= size + (messageFirst ? headerBytes : 1)) return "too-short"
  const [from, to] = messageFirst ? [bytes.length - size, bytes.length] : [1, 1 + size]
  const signatures = bytes.subarray(from, to)
  return { count, signatures, message: messageFirst ? bytes.subarray(0, from) : bytes.subarray(to) }
}

/** One signature of a transaction. */
export const signatureAt = ({ signatures }: TransactionParts, index: number): Uint8Array =>
  signatures.subarray(index * signatureBytes, (index + 1) * signatureBytes)

/** The index of the first missing signature, which is all zeros; -1 if there is none. */
export const firstMissingSignature = (parts: TransactionParts): number => {
  for (let index = 0; index < parts.count; index++) {
    if (signatureAt(parts, index).every((byte) => byte === 0)) return index
  }
  return -1
}

export const systemProgram = "11111111111111111111111111111111"
/**
 * The System program's instruction 4 as u32, joined with commas. A transaction that begins with it uses a durable nonce: it never
 * expires, and landing replaces the nonce.
 */
export const advanceNonce = "4,0,0,0"

/** Whether a text is base58 of exactly 64 bytes. */
export const isSignature = (text: string): boolean => {
  if (text.length < signatureBytes || text.length > 88 || !isBase58Text(text)) return false
  return base58Size(text) === signatureBytes
}

const version1KeyCount = 41

/**
 * Whether bytes begin as a message of some version does, and have room for all the keys that they name. Secrets, texts and other
 * files that are passed by mistake don't.
 */
export const looksLikeMessage = (bytes: Uint8Array): boolean => {
  const [first = 0] = bytes
  const at = first > 127 ? 1 : 0
  const keysAt = first === version1 ? version1KeyCount : at + 3
  const [signers = 0, keys = 0] = [bytes[at], bytes[keysAt]]
  const rest = first === version1 ? 0 : 33
  return first <= version1 && signers > 0 && signers <= keys && bytes.length > keysAt + 32 * keys + rest
}
