import { asSvcError, ownError } from "../http/error.ts"
import { type Knowledge, nothingKnown, type Outcome } from "./judge.ts"
import { readVerified } from "../journal/payment.ts"
import type { Relay, Transaction } from "../relay/relay.ts"
import { type LoopOptions, settleWith } from "./settle-loop.ts"
import { isSignature } from "@svc/common/transaction-parts"
import { readSigned } from "../relay/wire.ts"

export type SubmitOptions = LoopOptions & {
  /** Fully signed: base64, or its bytes. */
  readonly transaction: Transaction
  /**
   * The block height up to which the blockhash of the transaction is valid, from `latestBlockhash`. If it is too low, the chain's
   * own word decides.
   */
  readonly lastValidBlockHeight: bigint
  /**
   * Awaited with the signature before the first byte leaves: store it, so that `settle` can find out after a crash. If it
   * fails, nothing is sent.
   */
  readonly before?: ((signature: string) => void | Promise<void>) | undefined
}

export type SettleOptions = LoopOptions & {
  /** The first signature of the transaction, base58. */
  readonly signature: string
  /** As on `submit`. Without `resend`, nothing is called expired before 150 blocks after the call. */
  readonly lastValidBlockHeight: bigint
  /** The same bytes as before: `settle` sends them again while the outcome is open. Without them it only looks up. */
  readonly resend?: Transaction | undefined
}

const start = (
  { lastValidBlockHeight, commitment = "confirmed" }: Pick<SubmitOptions, "lastValidBlockHeight" | "commitment">,
  signature: string,
  message: Uint8Array | undefined,
  atLarge: number,
): Knowledge =>
  nothingKnown({ signature, lastValidBlockHeight: heightOf(lastValidBlockHeight), commitment, message, atLarge })

/**
 * Sends a signed transaction and finds out what became of it. It sends the same bytes again, never others, until the outcome is
 * known: one signature lands at most once. Failed look-ups, 429, 503, expired tokens, lost connections and relay restarts don't
 * end it. A program that may crash uses `createJournal`, which keeps what it needs to continue.
 *
 * @returns One of four: `landed` (check `err`), `not-submitted`, `expired`, `undecided`. It doesn't reject for anything that
 * the network or the services do. `not-submitted` with the code `durable-nonce` if the transaction can't expire, and
 * `signature_verification_failed` if it was changed after it was signed.
 * @example
 * const outcome = await submit(relay, { transaction, lastValidBlockHeight }) // signed, base64 or bytes
 * if (outcome.state === "landed" && outcome.err === null) console.log(`paid in slot ${outcome.slot}`)
 */
export const submit = async (relay: Relay, options: SubmitOptions): Promise<Outcome> => {
  let wire
  let known
  try {
    wire = await readVerified(options.transaction)
    known = start(options, wire.signature, wire.message, 0)
    await options.before?.(wire.signature)
  } catch (thrown) {
    return { state: "not-submitted", error: asSvcError(thrown, "before-failed", "Nothing was sent: before() failed") }
  }
  return settleWith(relay, { ...options, base64: wire.base64 }, known)
}

/**
 * Finds out what became of a transaction that may have been sent before, by a process that crashed or a `submit` that was given
 * up. With `resend` it also sends these bytes again. Never `not-submitted`: it can't know what others sent.
 *
 * @throws SvcError `invalid_signature`, `signature-mismatch` when `resend` is another transaction, `durable-nonce`, or
 * `signature_verification_failed`.
 * @example
 * const outcome = await settle(relay, { signature, lastValidBlockHeight })
 */
export const settle = async (relay: Relay, options: SettleOptions): Promise<Outcome> => {
  const { signature, resend } = options
  if (!isSignature(signature)) throw ownError("invalid_signature", "The signature isn't base58 of 64 bytes")
  const wire = resend === undefined ? undefined : await readVerified(resend)
  if (wire !== undefined && wire.signature !== signature) {
    throw ownError("signature-mismatch", `The transaction has another signature: ${wire.signature}`)
  }
  return settleWith(relay, { ...options, base64: wire?.base64 }, start(options, signature, wire?.message, 1))
}

/**
 * The first signature of a signed transaction, base58: its identity on the chain. Nobody is asked.
 *
 * @throws SvcError with the relay's codes: `invalid_base64`, `invalid_transaction`, `transaction_too_large`,
 * `unsigned_transaction`.
 * @example
 * const signature = signatureOf(transaction)
 */
export const signatureOf = (transaction: Transaction): string => readSigned(transaction).signature

/** A program without types may hold the height as a number or as the relay's text. */
export const heightOf = (height: unknown): bigint => {
  const text = String(height)
  if (/^\d{1,20}$/.test(text)) return BigInt(text)
  throw ownError("invalid_request", "lastValidBlockHeight isn't a height")
}
