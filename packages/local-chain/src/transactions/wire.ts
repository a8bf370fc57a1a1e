import { verify } from "node:crypto"
import { base58 } from "@svc/common/base58"
import { sizeLimit, version1 } from "@svc/common/transaction-parts"
import * as kit from "@solana/kit"
import { invalidParams } from "../rpc.ts"

/** The bits of its config mask that have a meaning so far. */
const configBits = 5

export type Message = kit.CompiledTransactionMessage & kit.CompiledTransactionMessageWithLifetime

/** A transaction and its message, decoded. */
export type Wire = kit.Transaction & { readonly message: Message }

const addressBytes = kit.getAddressEncoder()
const messages = kit.getCompiledTransactionMessageCodec()
const transactions = kit.getTransactionCodec()
const noSignature = new Uint8Array(64)
type Kind = "solana_transaction::versioned::VersionedTransaction" | "solana_message::versions::VersionedMessage"
/** In a validator's words: the relay knows them. */
const unreadable = (kind: Kind) => invalidParams(`failed to deserialize ${kind}: io error: failed to fill whole buffer`)

export const base64 = (bytes: kit.ReadonlyUint8Array): string => Buffer.from(bytes).toString("base64")

/** The longest text that is decoded: base64 of the largest transaction. */
const longestText = 5464

const decoded = (text: string): Uint8Array => {
  if (text.length > longestText) {
    throw invalidParams(`base64 text too large: ${text.length} characters (max: ${longestText})`)
  }
  const bytes = Buffer.from(text, "base64")
  if (base64(bytes) !== text) throw invalidParams("invalid base64 encoding")
  const limit = sizeLimit(bytes)
  if (bytes.length > limit) throw invalidParams(`too large: ${bytes.length} bytes (max: ${limit} bytes)`)
  return Uint8Array.from(bytes)
}

/**
 * Reads the message at the start of these bytes, and ignores what follows, as validators do. Rejects bytes that don't encode
 * back to themselves, because the VM's native code ends the process on bytes that it can't decode.
 */
const readMessage = (bytes: kit.ReadonlyUint8Array, kind: Kind): Pick<Wire, "message" | "messageBytes"> => {
  let message: Message
  let messageBytes: kit.ReadonlyUint8Array
  try {
    message = messages.decode(bytes)
    messageBytes = messages.encode(message)
  } catch {
    throw unreadable(kind)
  }
  if (message.version === 1 && message.configMask >>> configBits !== 0) {
    throw invalidParams("failed to deserialize the transaction message: unknown bits in its config mask")
  }
  if (Buffer.compare(Uint8Array.from(bytes.slice(0, messageBytes.length)), Uint8Array.from(messageBytes)) !== 0) {
    throw unreadable(kind)
  }
  return { message, messageBytes: messageBytes as kit.TransactionMessageBytes }
}

const transactionKind = "solana_transaction::versioned::VersionedTransaction"
const unsanitary = () => invalidParams("invalid transaction: Transaction failed to sanitize accounts offsets correctly")

const split = (bytes: Uint8Array): kit.Transaction => {
  try {
    return transactions.decode(bytes)
  } catch (error) {
    if (!kit.isSolanaError(error, kit.SOLANA_ERROR__TRANSACTION__MESSAGE_SIGNATURES_MISMATCH)) {
      throw unreadable(transactionKind)
    }
    // The bytes after this many signatures may not be a message either, which is the first error.
    readMessage(bytes.subarray(1 + (bytes[0] ?? 0) * noSignature.length), transactionKind)
    throw unsanitary()
  }
}

/** A duplicate signer has only one signature, so the VM can't decode the transaction. */
const checkSigners = (wire: Wire): Wire => {
  const signers = wire.message.header.numSignerAccounts
  if (signers === 0 || Object.keys(wire.signatures).length !== signers) throw unsanitary()
  return wire
}

/** Reads a transaction. Throws RpcError. */
export const readWire = (text: string): Wire => {
  const bytes = decoded(text)
  const { messageBytes, signatures } = split(bytes)
  const read = readMessage(messageBytes, transactionKind)
  if (read.message.version === 1 && (bytes[0] !== version1 || read.messageBytes.length !== messageBytes.length)) {
    throw invalidParams("failed to deserialize the transaction: its message must come first, and be whole")
  }
  return checkSigners({ ...read, signatures })
}

/** A message alone, as a transaction with empty signatures. Throws RpcError. */
export const readUnsigned = (text: string): Wire => {
  const read = readMessage(decoded(text), "solana_message::versions::VersionedMessage")
  const { header, staticAccounts } = read.message
  const signers = staticAccounts.slice(0, header.numSignerAccounts)
  return checkSigners({ ...read, signatures: Object.fromEntries(signers.map((signer) => [signer, null])) })
}

/** The instructions of a message of any version. */
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

/** The lookup tables of a message; undefined if its version has none. */
export const lookupsOf = (message: Message) =>
  "addressTableLookups" in message ? message.addressTableLookups : undefined

/** The first signature in base58. */
export const firstSignature = ({ signatures }: Wire): string => base58(Object.values(signatures)[0] ?? noSignature)

/** The whole transaction, as it is sent. */
export const bytesOf = (wire: Wire): Uint8Array => Uint8Array.from(transactions.encode(wire))

export const withBlockhash = ({ message, signatures }: Wire, blockhash: string): Wire => {
  const replaced: Message = { ...message, lifetimeToken: blockhash }
  return { message: replaced, messageBytes: messages.encode(replaced) as kit.TransactionMessageBytes, signatures }
}

/** Whether every required signer has signed the message. */
export const isSigned = ({ messageBytes, signatures }: Wire): boolean =>
  Object.entries(signatures).every(([signer, signature]) => {
    const x = Buffer.from(addressBytes.encode(kit.address(signer))).toString("base64url")
    const key = { kty: "OKP", crv: "Ed25519", x }
    try {
      return (
        signature !== null &&
        verify(null, Uint8Array.from(messageBytes), { key, format: "jwk" }, Uint8Array.from(signature))
      )
    } catch {
      return false // An address that isn't on the curve can't sign.
    }
  })
