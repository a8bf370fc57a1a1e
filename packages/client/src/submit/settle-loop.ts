import { blockhashAge } from "@svc/common/chain-constants"
import { type Clock, systemClock } from "../http/clock.ts"
import { asSvcError } from "../http/error.ts"
import {
  conclude,
  giveUp,
  isInRow,
  isOver,
  type Knowledge,
  learn,
  nextCommitment,
  type Outcome,
  slotToReach,
  type Step,
} from "./judge.ts"
import type { Abortable, Commitment, Relay, SendOptions } from "../relay/relay.ts"

/** Options of all functions that find out what became of a transaction. */
export type LoopOptions = Abortable & {
  /** The commitment that counts as landed; default confirmed. A `processed` block can still be dropped. */
  readonly commitment?: Commitment | undefined
  /** How often to send the same bytes again, in ms, varied by a fifth; default 2,000; 0: never. */
  readonly rebroadcastMs?: number | undefined
  /** Called with every observation. */
  readonly onStep?: ((step: Step) => void) | undefined
  /** For tests. */
  readonly clock?: Clock | undefined
} & Pick<SendOptions, "skipPreflight" | "preflightCommitment" | "minContextSlot">

const usualRebroadcastMs = 2000
const firstLookMs = 500
const lookMs = 1000
/**
 * How long to wait at most between the look-ups of a row. The time is drawn at random: with equal times, the look-ups of two
 * payments would alternate, and between nodes in turns each payment's would reach the same nodes again.
 */
const rowMs = 400
export const rowPause = (clock: Clock): number => rowMs * clock.random()
/** How long to wait between rows of look-ups that prove a caller's word: a provider that lags by less is seen to catch up. */
const doubtMs = 10_000
/** No chain makes blocks faster. */
const shortestBlockMs = 200
const longestPauseMs = 10_000

const failed = (thrown: unknown) => ({
  step: "lookup-failed" as const,
  error: asSvcError(thrown, "lookup-failed", "The look-up failed"),
})

/** Sends once, and returns what that proves. */
export const sendOnce = async (relay: Relay, options: SendOptions & Abortable): Promise<Step> => {
  try {
    await relay.send(options)
    return { step: "accepted" }
  } catch (thrown) {
    const error = asSvcError(thrown, "send-failed", "The send failed")
    return { step: error.submissionState === "not_submitted" ? "refused" : "uncertain", error }
  }
}

/** Looks up a signature. */
export const lookOnce = async (
  relay: Relay,
  signature: string,
  searched: boolean,
  abortable: Abortable,
): Promise<Extract<Step, { step: "status" | "lookup-failed" }>> => {
  try {
    const answer = await relay.signatureStatus({ signature, searchTransactionHistory: searched, ...abortable })
    return { step: "status", ...answer, searched }
  } catch (thrown) {
    return failed(thrown)
  }
}

/**
 * Finds out up to where the chain is final. The block-height endpoint doesn't name the slot of its height. The latest
 * blockhash does, and is valid for `blockhashAge` blocks after its own.
 */
export const viewOnce = async (
  relay: Relay,
  abortable: Abortable,
): Promise<Extract<Step, { step: "finalized" | "lookup-failed" }>> => {
  try {
    const { contextSlot, lastValidBlockHeight } = await relay.latestBlockhash({ commitment: "finalized", ...abortable })
    return { step: "finalized", height: lastValidBlockHeight - blockhashAge, slot: contextSlot }
  } catch (thrown) {
    return failed(thrown)
  }
}

/** Asks whether the chain still accepts the blockhash of the message, which must be at hand. */
export const askOnce = async (relay: Relay, known: Knowledge, abortable: Abortable): Promise<Step> => {
  const { message = "" } = known
  const commitment = nextCommitment(known)
  const about = { step: "blockhash", commitment } as const
  try {
    const where = { commitment, minContextSlot: slotToReach(known, commitment) }
    const { feeLamports, contextSlot } = await relay.fee({ message, ...where, ...abortable })
    return { ...about, isKnown: feeLamports !== null, contextSlot }
  } catch (thrown) {
    const failure = failed(thrown)
    // A provider may lack the method, or the lookup table that the message names.
    const isFinal = failure.error.code === "upstream_rpc_error" && !failure.error.retryable
    return isFinal ? { ...about, isKnown: undefined, contextSlot: 0n } : failure
  }
}

/** A pause that grows with each consecutive failure and is never shorter than `retryAfterMs`. */
export const pauseAfter = (failures: number, retryAfterMs: number | undefined, clock: Clock): number =>
  Math.max(retryAfterMs ?? 0, Math.min(8000, 500 * 2 ** Math.min(failures - 1, 4))) * (1 + clock.random() * 0.2)

/**
 * Looks the transaction up and, with `base64`, also sends it, until there is a conclusion or `signal` aborts. Never rejects
 * because of the network or the services. `isProvenHeight`: the last valid block height is the chain's word, not the caller's.
 */
export const settleWith = (
  relay: Relay,
  options: LoopOptions & { readonly base64: string | undefined; readonly isProvenHeight?: boolean },
  start: Knowledge,
): Promise<Outcome> => {
  const { base64, rebroadcastMs = usualRebroadcastMs, onStep, signal, clock = systemClock } = options
  const proofMs = options.isProvenHeight ? lookMs : doubtMs
  const ended = new AbortController()
  const over = ended.signal
  const abortable = { signal: over }
  let known = start

  const take = (step: Step): void => {
    if (over.aborted) return
    known = learn(known, step)
    try {
      onStep?.(step)
    } catch {
      // A listener that throws must not lose the transaction.
    }
  }

  /** Looks the transaction up, as often as that fails. */
  const look = async (searched: boolean): Promise<Step> => {
    for (let failures = 1; ; failures++) {
      const step = await lookOnce(relay, known.signature, searched, abortable)
      take(step)
      decide()
      if (step.step === "status" || over.aborted) return step
      await clock.sleep(pauseAfter(failures, step.error.retryAfterMs, clock), over)
    }
  }

  const sender = async (transaction: string): Promise<void> => {
    const { skipPreflight, preflightCommitment, minContextSlot } = options
    const sending = { transaction, signal: over, skipPreflight, preflightCommitment, minContextSlot }
    const again = (): number => rebroadcastMs * (0.8 + clock.random() * 0.4)
    for (let refusals = 0; ;) {
      // It is in a block, or its blockhash seems to have expired: another copy would be rejected.
      while ((known.status !== null || isOver(known)) && !over.aborted) await clock.sleep(again() || lookMs, over)
      if (over.aborted) return
      take({ step: "sending" })
      const step = await sendOnce(relay, sending)
      // If an earlier run sent these bytes, the chain may have them, and have forgotten their blockhash since.
      const isRefused = step.step === "refused"
      if (isRefused && step.error.code === "upstream_rpc_error") await look(true)
      take(step)
      decide()
      const atLarge = known.atLarge > 0
      if (atLarge && rebroadcastMs === 0) return
      refusals = isRefused ? refusals + 1 : 0
      const asked = ("error" in step && step.error.retryAfterMs) || 0
      const pause = refusals && pauseAfter(refusals, asked, clock)
      await clock.sleep(Math.max(pause, asked, atLarge ? again() : 0), over)
    }
  }

  const looker = async (): Promise<void> => {
    let nextViewAt = 0
    let failures = 0
    await clock.sleep(base64 === undefined ? 0 : firstLookMs, over)
    while (!over.aborted) {
      const searched = isOver(known)
      const isToAsk = searched && known.message !== undefined && !known.isForgotten
      const asked = isToAsk ? await askOnce(relay, known, abortable) : undefined
      if (asked !== undefined) take(asked)
      // The caller's height was too low: how much isn't known.
      if (searched && !isOver(known)) nextViewAt = clock.now() + longestPauseMs
      let step = await look(searched)
      if (step.step === "status" && step.status === null && !searched && clock.now() >= nextViewAt) {
        step = await viewOnce(relay, abortable)
        take(step)
        if (isOver(known)) continue
        if (step.step === "finalized") {
          const left = Number(known.lastValidBlockHeight - step.height) * shortestBlockMs
          nextViewAt = clock.now() + Math.min(Math.max(left, lookMs), longestPauseMs)
        }
      }
      const failure = [step, asked].find((one) => one?.step === "lookup-failed")
      failures = failure === undefined ? 0 : failures + 1
      await clock.sleep(
        failure === undefined
          ? isInRow(known)
            ? rowPause(clock)
            : (isOver(known) ? proofMs : lookMs) * (0.8 + clock.random() * 0.4)
          : pauseAfter(failures, failure.error.retryAfterMs, clock),
        over,
      )
    }
  }

  let decide = (): void => {}
  if (signal?.aborted) return Promise.resolve(giveUp(start))
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
