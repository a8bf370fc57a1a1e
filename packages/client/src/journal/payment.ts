import type { Transaction } from "../relay/relay.ts"
import { base58 } from "@svc/common/base58"
import { advanceNonce, systemProgram, version1 } from "@svc/common/transaction-parts"
import { readSigned, refusal, toBase64, type Wire } from "../relay/wire.ts"

const computeBudget = "ComputeBudget111111111111111111111111111111"

/** What two transactions of the same payment have in common. */
export type PaymentFacts = {
  /**
   * SHA-256 in hex of the payer and each instruction: program, accounts with their flags, data. It ignores compute budget,
   * fees, version and blockhash. An account from a lookup table is identified by table and index.
   */
  readonly fingerprint: string
  readonly payer: string
  readonly accounts: readonly string[]
  readonly programs: readonly string[]
}

export type SignedPayment = Wire & { readonly blockhash: string; readonly facts: PaymentFacts }

const readMessage = (bytes: Uint8Array) => {
  let at = 0
  const found = <Value>(value: Value | undefined): Value => {
    if (value !== undefined) return value
    throw refusal("invalid_transaction", "The message can't be read")
  }
  const byte = (): number => found(bytes[at++])
  // Each item has at least one byte, so a size past the end is refused before an array of it is made.
  const list = <Item>(size: number, item: () => Item): Item[] =>
    found(size <= bytes.length - at ? Array.from({ length: size }, item) : undefined)
  /** Seven bits per byte, lowest first. */
  const length = (): number => {
    const next = byte()
    return next < 128 ? next : next - 128 + 128 * length()
  }
  const take = (size: number) => Uint8Array.from(list(size, byte))
  const key = () => take(32)
  const indexes = (): number[] => list(length(), byte)

  const version = found(bytes[0])
  if (version > version1) found(undefined)
  if (version > 127) at++
  const [signers, readonlySigners, readonlyOthers] = [byte(), byte(), byte()]
  const readVersion1 = () => {
    // Each bit of the mask stands for four bytes of fees and limits.
    const bits = list(4, () => byte().toString(2))
      .join("")
      .replaceAll("0", "").length
    const blockhash = key()
    const count = byte()
    const keys = list(byte(), key)
    take(bits * 4)
    const headers = list(count, () => ({ program: byte(), accounts: byte(), data: byte() + 256 * byte() }))
    const instructions = headers.map(({ program, accounts, data }) => ({
      program,
      accounts: list(accounts, byte),
      data: take(data),
    }))
    return { keys, blockhash, instructions, tables: [] }
  }
  const readOlder = () => ({
    keys: list(length(), key),
    blockhash: key(),
    instructions: list(length(), () => ({ program: byte(), accounts: indexes(), data: take(length()) })),
    tables: list(version > 127 ? length() : 0, () => ({
      table: base58(key()),
      writable: indexes(),
      others: indexes(),
    })),
  })

  const { keys: raw, blockhash, instructions, tables } = version === version1 ? readVersion1() : readOlder()
  const keys = raw.map(base58)
  const accounts = [
    ...keys.map((address, index) => {
      const isSigner = index < signers
      const isWritable = isSigner ? index < signers - readonlySigners : index < keys.length - readonlyOthers
      return [address, isSigner, isWritable] as const
    }),
    ...tables.flatMap(({ table, writable }) => writable.map((index) => [`${table}[${index}]`, false, true] as const)),
    ...tables.flatMap(({ table, others }) => others.map((index) => [`${table}[${index}]`, false, false] as const)),
  ]
  return {
    payer: found(keys[0]),
    payerKey: found(raw[0]),
    blockhash: base58(blockhash),
    instructions: instructions.map((instruction) => ({
      program: found(keys[instruction.program]),
      accounts: instruction.accounts.map((index) => found(accounts[index])),
      data: instruction.data,
    })),
  }
}

/**
 * Reads a signed transaction that can expire, before anybody is asked.
 *
 * @throws SvcError with the relay's codes, as `signatureOf` does, or `durable-nonce`.
 */
export const readExpiring = (transaction: Transaction) => {
  const wire = readSigned(transaction)
  const read = readMessage(wire.message)
  const [first] = read.instructions
  if (first?.program === systemProgram && String(first.data.subarray(0, 4)) === advanceNonce) {
    const message = "Its durable nonce never expires: use a recent blockhash"
    throw refusal("durable-nonce", message)
  }
  return { ...wire, ...read }
}

/** Browsers give it only to pages that come by https or from this machine; React Native has none. */
const subtleCrypto = (): SubtleCrypto | undefined =>
  (globalThis as { readonly crypto?: { readonly subtle?: SubtleCrypto } }).crypto?.subtle

/**
 * The same, and the first signature is of this message: whoever looks it up finds this transaction and no other. Platforms without
 * Ed25519 (Web Cryptography Level 2) leave that to the relay, which checks it before it sends.
 *
 * @throws SvcError also `signature_verification_failed`.
 */
export const readVerified = async (transaction: Transaction) => {
  const read = readExpiring(transaction)
  const { payerKey, signed, message } = read
  const subtle = subtleCrypto()
  const isSigned = await subtle?.importKey("raw", payerKey, "Ed25519", false, ["verify"]).then(
    (key) => subtle.verify("Ed25519", key, Uint8Array.from(signed), Uint8Array.from(message)),
    ({ name }: Error) => name === "NotSupportedError",
  )
  if (isSigned !== false) return read
  throw refusal("signature_verification_failed", "The signature isn't of this message. Nothing was stored or sent")
}

/** Reads what a signed transaction pays for. Throws as `readVerified` does, or `journal-unavailable`. */
export const readPayment = async (transaction: Transaction): Promise<SignedPayment> => {
  const { payer, instructions, ...wire } = await readVerified(transaction)
  const counted = instructions.filter(({ program }) => program !== computeBudget)
  const text = JSON.stringify([payer, counted.map((one) => ({ ...one, data: toBase64(one.data) }))])
  const hash = await subtleCrypto()?.digest("SHA-256", new TextEncoder().encode(text))
  if (hash === undefined) {
    throw refusal("journal-unavailable", "Nothing was stored or sent: crypto.subtle needs https or localhost")
  }
  return {
    ...wire,
    facts: {
      fingerprint: Array.from(new Uint8Array(hash), (part) => part.toString(16).padStart(2, "0")).join(""),
      payer,
      accounts: [...new Set(counted.flatMap(({ accounts }) => accounts.map(([address]) => address)))],
      programs: [...new Set(counted.map(({ program }) => program))],
    },
  }
}
