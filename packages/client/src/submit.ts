import { type Clock, systemClock } from "./clock.ts"
import { asSvcError, ownError } from "./error.ts"
import { conclude, giveUp, isOver, type Knowledge, learn, nothingKnown, type Outcome, type Step } from "./judge.ts"
import { lookOnce, sendOnce, viewOnce } from "./steps.ts"
import type { Commitment, Relay, SendOptions, Transaction } from "./relay.ts"
import { isSignature, readSigned } from "./wire.ts"

type Common = {
  /** The block height up to which the blockhash that was signed with is good, from `latestBlockhash`. */
  readonly lastValidBlockHeight: bigint
  /** What counts as landed; default confirmed. `processed` can still be dropped. */
  readonly commitment?: Commitment
  /** How often the same bytes go out again, in ms, give or take a fifth; default 2,000; 0: never. */
  readonly rebroadcastMs?: number
  /** Told of everything that is learnt, as it is learnt. */
  readonly onStep?: (step: Step) => void
  /** Gives up: the outcome is `undecided`, or `not-submitted` where that is proven. */
  readonly signal?: AbortSignal
  /** For tests. */
  readonly clock?: Clock
}

type HowToSend = Pick<SendOptions, "skipPreflight" | "preflightCommitment" | "minContextSlot">

export type SubmitOptions = Common &
  HowToSend & {
    /** Fully signed: base64, or its bytes. */
    readonly transaction: Transaction
    /**
     * Awaited with the signature before the first byte leaves: store it, so that `settle` can find out after a crash. If it
     * fails, nothing is sent.
     */
    readonly before?: (signature: string) => void | Promise<void>
  }

export type SettleOptions = Common &
  HowToSend & {
    /** The first signature of the transaction, base58. */
    readonly signature: string
    /** The same bytes as before, to be sent again while that is undecided; without them it is only looked up. */
    readonly transaction?: Transaction
  }

const usualRebroadcastMs = 2000
const firstLookMs = 500
const lookMs = 1000
/** No chain makes blocks faster; so much time is there until a height is reached, at least. */
const shortestBlockMs = 200
const longestPauseMs = 10_000

/** A wait that is longer after each failure in a row, never shorter than the service asks for. */
const pauseAfter = (failures: number, retryAfterMs: number | undefined, clock: Clock): number =>
  Math.max(retryAfterMs ?? 0, Math.min(8000, 500 * 2 ** Math.min(failures - 1, 4))) * (1 + clock.random() * 0.2)

type Plan = Common & HowToSend & { readonly base64: string | undefined }

/** Sends and looks, side by side, until what was learnt allows a conclusion. */
const settleWith = (relay: Relay, plan: Plan, start: Knowledge): Promise<Outcome> => {
  const { base64, rebroadcastMs = usualRebroadcastMs, onStep, signal, clock = systemClock } = plan
  const ended = new AbortController()
  const over = ended.signal
  let known = start

  const take = (step: Step): void => {
    if (over.aborted) return
    known = learn(known, step)
    try {
      onStep?.(step)
    } catch {
      // A listener's fault must not lose the transaction.
    }
  }

  const sender = async (transaction: string): Promise<void> => {
    const { skipPreflight, preflightCommitment, minContextSlot } = plan
    const options = {
      transaction,
      signal: over,
      ...(skipPreflight === undefined ? {} : { skipPreflight }),
      ...(preflightCommitment === undefined ? {} : { preflightCommitment }),
      ...(minContextSlot === undefined ? {} : { minContextSlot }),
    }
    const again = (): number => rebroadcastMs * (0.8 + clock.random() * 0.4)
    for (let refusals = 0; !over.aborted && !isOver(known);) {
      take({ step: "sending" })
      const step = await sendOnce(relay, options)
      take(step)
      decide()
      const atLarge = known.atLarge > 0
      if (atLarge && rebroadcastMs === 0) return
      refusals = step.step === "refused" ? refusals + 1 : 0
      const asked = "error" in step ? step.error.retryAfterMs : undefined
      await clock.sleep(
        refusals > 0
          ? Math.max(pauseAfter(refusals, asked, clock), atLarge ? again() : 0)
          : Math.max(again(), asked ?? 0),
        over,
      )
      // In a block already: another copy would be refused.
      while (known.status !== null && !over.aborted) await clock.sleep(again() || lookMs, over)
    }
  }

  const looker = async (): Promise<void> => {
    let nextViewAt = 0
    let failures = 0
    await clock.sleep(base64 === undefined ? 0 : firstLookMs, over)
    while (!over.aborted) {
      const searched = isOver(known)
      let step = await lookOnce(relay, known.signature, searched, over)
      take(step)
      decide()
      if (step.step === "status" && step.status === null && !searched && clock.now() >= nextViewAt) {
        step = await viewOnce(relay, over)
        take(step)
        if (isOver(known)) continue
        if (step.step === "finalized") {
          const left = Number(known.lastValidBlockHeight - step.height) * shortestBlockMs
          nextViewAt = clock.now() + Math.min(Math.max(left, lookMs), longestPauseMs)
        }
      }
      failures = step.step === "lookup-failed" ? failures + 1 : 0
      await clock.sleep(
        step.step === "lookup-failed"
          ? pauseAfter(failures, step.error.retryAfterMs, clock)
          : lookMs * (0.8 + clock.random() * 0.4),
        over,
      )
    }
  }

  let decide = (): void => {}
  return new Promise<Outcome>((resolve, reject) => {
    const end = (outcome: Outcome): void => {
      if (over.aborted) return
      signal?.removeEventListener("abort", leave)
      ended.abort()
      resolve(outcome)
    }
    const leave = (): void => end(giveUp(known))
    decide = () => {
      const outcome = conclude(known)
      if (outcome !== undefined) end(outcome)
    }
    signal?.addEventListener("abort", leave)
    if (base64 !== undefined) sender(base64).catch(reject)
    looker().catch(reject)
  })
}

/**
 * Sends a signed transaction and finds out what became of it. The same bytes, never others, go out again while that is
 * undecided: one signature lands at most once. A failed look-up, a 429 or 503, an expired token, a lost network or a relay
 * that restarts never ends it.
 *
 * @returns One of four: `landed` (look at `err`), `not-submitted`, `expired`, `undecided`. It does not reject for anything that
 * the network or the services do.
 * @example
 * const outcome = await submit(relay, {
 *   transaction, // signed, base64 or bytes
 *   lastValidBlockHeight,
 *   before: (signature) => writeFile("pending.json", JSON.stringify({ signature, lastValidBlockHeight: String(lastValidBlockHeight) })),
 * })
 * if (outcome.state === "landed" && outcome.err === null) console.log(`paid in slot ${outcome.slot}`)
 */
export const submit = async (relay: Relay, options: SubmitOptions): Promise<Outcome> => {
  let wire
  let lastValidBlockHeight
  try {
    wire = readSigned(options.transaction)
    lastValidBlockHeight = heightOf(options.lastValidBlockHeight)
    await options.before?.(wire.signature)
  } catch (thrown) {
    return { state: "not-submitted", error: asSvcError(thrown, "before-failed", "Nothing was sent: before() failed") }
  }
  const { signature, base64 } = wire
  const start = nothingKnown({
    signature,
    lastValidBlockHeight,
    commitment: options.commitment ?? "confirmed",
    atLarge: 0,
  })
  if (options.signal?.aborted === true) return giveUp(start)
  return settleWith(relay, { ...options, base64 }, start)
}

/**
 * The second half of `submit` alone: finds out what became of a transaction that may have been sent before, by a process that
 * crashed or by a `submit` that was given up. Never `not-submitted`: what others sent cannot be known.
 *
 * @throws SvcError `invalid_signature`, or `signature-mismatch` when `transaction` is another one.
 * @example
 * const { signature, lastValidBlockHeight } = JSON.parse(await readFile("pending.json", "utf8"))
 * const outcome = await settle(relay, { signature, lastValidBlockHeight: BigInt(lastValidBlockHeight) })
 */
export const settle = async (relay: Relay, options: SettleOptions): Promise<Outcome> => {
  const { signature, transaction } = options
  if (!isSignature(signature)) throw ownError("invalid_signature", "The signature is not base58 of 64 bytes")
  const wire = transaction === undefined ? undefined : readSigned(transaction)
  if (wire !== undefined && wire.signature !== signature) {
    throw ownError("signature-mismatch", `The transaction is another one: its signature is ${wire.signature}`)
  }
  const start = nothingKnown({
    signature,
    lastValidBlockHeight: heightOf(options.lastValidBlockHeight),
    commitment: options.commitment ?? "confirmed",
    atLarge: 1,
  })
  if (options.signal?.aborted === true) return giveUp(start)
  return settleWith(relay, { ...options, base64: wire?.base64 }, start)
}

/**
 * What a signed transaction is known by: its first signature, base58. Nobody is asked.
 *
 * @throws SvcError with the relay's codes: `invalid_base64`, `invalid_transaction`, `transaction_too_large`,
 * `unsigned_transaction`.
 * @example
 * const signature = signatureOf(transaction)
 */
export const signatureOf = (transaction: Transaction): string => readSigned(transaction).signature

const heightOf = (height: unknown): bigint => {
  // A program without types may hold it as a number or as the relay's text.
  if (typeof height === "bigint") return height
  if (Number.isSafeInteger(height) || (typeof height === "string" && /^\d{1,20}$/.test(height)))
    return BigInt(String(height))
  throw ownError("invalid_request", "lastValidBlockHeight must be a bigint")
}
