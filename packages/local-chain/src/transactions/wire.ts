import { verify } from "node:crypto"
import { base58 } from "@svc/common/base58"
import { signatureBytes, sizeLimit, version1 } from "@svc/common/transaction-parts"
import * as kit from "@solana/kit"
import { invalidParams } from "../rpc.ts"

/** The bits of its config mask that have a meaning so far. */
const configBits = 5

export type Encoding = "base58" | "base64"

export type Message = kit.CompiledTransactionMessage & kit.CompiledTransactionMessageWithLifetime

export type Wire = {
  readonly bytes: Uint8Array
  readonly message: Message
  readonly messageBytes: Uint8Array
  readonly signatures: readonly Uint8Array[]
}

const addressBytes = kit.getAddressEncoder()
const base58Bytes = kit.getBase58Encoder()
const shortU16 = kit.getShortU16Decoder()
const messageDecoder = kit.getCompiledTransactionMessageDecoder()
const messageEncoder = kit.getCompiledTransactionMessageEncoder()

export const base64 = (bytes: kit.ReadonlyUint8Array): string => Buffer.from(bytes).toString("base64")

const decoded = (text: string, encoding: Encoding): Uint8Array => {
  // The longest text of these sizes; decoding base58 takes quadratic time, so a packet is all that comes in it.
  const most = encoding === "base58" ? 1683 : 5464
  if (text.length > most) throw invalidParams(`${encoding} text too large: ${text.length} characters (max: ${most})`)
  const bytes =
    encoding === "base64"
      ? Buffer.from(text, "base64")
      : attempt("invalid base58 encoding", () => base58Bytes.encode(text))
  if (encoding === "base64" && base64(bytes) !== text) throw invalidParams("invalid base64 encoding")
  const limit = sizeLimit(bytes)
  if (bytes.length > limit) throw invalidParams(`too large: ${bytes.length} bytes (max: ${limit} bytes)`)
  return Uint8Array.from(bytes)
}

/** Makes any error of a codec one of the caller's. */
const attempt = <T>(problem: string, run: () => T): T => {
  try {
    return run()
  } catch {
    throw invalidParams(problem)
  }
}

/**
 * Reads the message at the start of these bytes, and ignores what follows, as validators do. Rejects bytes that don't encode
 * back to themselves, because the VM's native code ends the process on bytes that it can't decode.
 */
const readMessage = (bytes: Uint8Array): { message: Message; messageBytes: Uint8Array } => {
  const problem = "failed to deserialize the transaction message"
  const message = attempt<Message>(problem, () => messageDecoder.decode(bytes))
  const canonical = attempt(problem, () => messageEncoder.encode(message))
  if (message.version === 1 && message.configMask >>> configBits !== 0) {
    throw invalidParams(`${problem}: unknown bits in its config mask`)
  }
  const messageBytes = bytes.slice(0, canonical.length)
  if (Buffer.compare(messageBytes, Uint8Array.from(canonical)) !== 0) {
    throw invalidParams(problem)
  }
  return { message, messageBytes }
}

const signaturesFrom = (bytes: Uint8Array, start: number, count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, index) =>
    bytes.slice(start + index * signatureBytes, start + (index + 1) * signatureBytes),
  )

/** Version 1: the message, then as many signatures as its header demands. */
const readMessageFirst = (bytes: Uint8Array): Wire => {
  const count = bytes[1] ?? 0
  const end = bytes.length - count * signatureBytes
  const read = readMessage(bytes.slice(0, Math.max(end, 0)))
  if (read.messageBytes.length !== end) throw invalidParams("failed to deserialize the transaction: trailing bytes")
  return wire(signaturesFrom(bytes, end, count), read)
}

/**
 * Reads a transaction: a count, the signatures, the message; in version 1 the message, then the signatures. Throws RpcError.
 */
export const readWire = (text: string, encoding: Encoding): Wire => {
  const bytes = decoded(text, encoding)
  if (bytes[0] === version1) return readMessageFirst(bytes)
  const problem = "failed to deserialize the transaction"
  const [count, start] = attempt(`${problem}: no signature count`, () => shortU16.read(bytes, 0))
  const end = start + count * signatureBytes
  if (start !== 1 || end > bytes.length) throw invalidParams(`${problem}: bad signature count`)
  const read = readMessage(bytes.slice(end))
  if (read.message.version === 1) throw invalidParams(`${problem}: its message must come first`)
  return wire(signaturesFrom(bytes, start, count), read)
}

/** A message alone, as a transaction with empty signatures. Throws RpcError. */
export const readUnsigned = (text: string): Wire => {
  const { message, messageBytes } = readMessage(decoded(text, "base64"))
  const signatures = Array.from({ length: message.header.numSignerAccounts }, () => new Uint8Array(signatureBytes))
  return wire(signatures, { message, messageBytes })
}

const wire = (signatures: Uint8Array[], { message, messageBytes }: Pick<Wire, "message" | "messageBytes">): Wire => {
  const signers = message.header.numSignerAccounts
  if (signers === 0 || signatures.length !== signers || signers > message.staticAccounts.length) {
    throw invalidParams("invalid transaction: Transaction failed to sanitize accounts offsets correctly")
  }
  const parts =
    message.version === 1
      ? [messageBytes, ...signatures]
      : [Uint8Array.of(signatures.length), ...signatures, messageBytes]
  const bytes = Uint8Array.from(Buffer.concat(parts))
  return { bytes, message, messageBytes, signatures }
}

/** The instructions of a message, of whichever version. */
export const instructionsOf = (message: Message) =>
  message.version === 1
    ? message.instructionHeaders.map(({ programAccountIndex }, index) => {
        const { instructionAccountIndices = [], instructionData = new Uint8Array() } =
          message.instructionPayloads[index] ?? {}
        return { program: programAccountIndex, accounts: instructionAccountIndices, data: instructionData }
      })
    : message.instructions.map(({ accountIndices = [], data = new Uint8Array(), programAddressIndex }) => ({
        program: programAddressIndex,
        accounts: accountIndices,
        data,
      }))

/** The lookup tables that a message names; undefined where its version knows none. */
export const lookupsOf = (message: Message) =>
  "addressTableLookups" in message ? message.addressTableLookups : undefined

export const firstSignature = (transaction: Wire): string => base58(transaction.signatures[0] ?? new Uint8Array())

export const withBlockhash = ({ message, signatures }: Wire, blockhash: string): Wire => {
  const replaced: Message = { ...message, lifetimeToken: blockhash }
  return wire([...signatures], { message: replaced, messageBytes: Uint8Array.from(messageEncoder.encode(replaced)) })
}

/** Whether every required signer has signed the message. */
export const isSigned = ({ message, messageBytes, signatures }: Wire): boolean =>
  signatures.every((signature, index) => {
    const signer = message.staticAccounts[index]
    if (signer === undefined) return false
    const x = Buffer.from(addressBytes.encode(signer)).toString("base64url")
    const key = { kty: "OKP", crv: "Ed25519", x }
    try {
      return verify(null, messageBytes, { key, format: "jwk" }, signature)
    } catch {
      return false // An address that isn't on the curve can't sign.
    }
  })
