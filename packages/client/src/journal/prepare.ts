import { blockhashAge } from "@svc/common/chain-constants"
import type { Clock } from "../http/clock.ts"
import { asSvcError, ownError } from "../http/error.ts"
import { readPayment, type SignedPayment } from "./payment.ts"
import type { Abortable, ChainView, Relay, Transaction } from "../relay/relay.ts"
import { pauseAfter, viewOnce } from "../submit/settle-loop.ts"
import { heightOf } from "../submit/submit.ts"
import { refusal } from "../relay/wire.ts"

/** Builds and signs a payment's transaction with this blockhash. It must not send it. */
export type BuildPayment = (lifetime: {
  readonly blockhash: string
  readonly lastValidBlockHeight: bigint
}) => Transaction | Promise<Transaction>

/** A signed transaction that passed the simulation, and what a journal stores with it. */
export type Prepared = {
  readonly payment: SignedPayment
  /** The transaction can't land in a higher block. */
  readonly lastValidBlockHeight: bigint
  readonly finalizedHeight: bigint
  /** Whether nothing suggests that it was sent before. */
  readonly isNew: boolean
}

/** Retries a call, at most `tries` times, while its errors are retryable. */
export const retry = async <Value>(
  call: () => Promise<Value>,
  { clock, tries, signal }: Abortable & { readonly clock: Clock; readonly tries: number },
): Promise<Value> => {
  for (let failures = 1; ; failures++) {
    try {
      return await call()
    } catch (thrown) {
      const error = asSvcError(thrown, "lookup-failed", "The look-up failed")
      if (!error.retryable || failures >= tries) throw error
      await clock.sleep(pauseAfter(failures, error.retryAfterMs, clock), signal)
    }
  }
}

/** The height and slot up to which the chain is final. Throws SvcError. */
export const finalView = async (relay: Relay, abortable: Abortable) => {
  const step = await viewOnce(relay, abortable)
  if (step.step === "finalized") return step
  throw "error" in step ? step.error : ownError("unexpected-answer", "There is no finalized block")
}

const later = (one: bigint, other: bigint): bigint => (one > other ? one : other)

/**
 * Gets a transaction signed, checks it and simulates it. Bytes that were signed elsewhere may have been sent already: then
 * they aren't simulated.
 *
 * @param check Called with the signed transaction before the simulation. If it throws, the preparation ends.
 * @throws SvcError `wrong-blockhash`, `simulation-failed`, or the relay's error.
 */
export const prepare = async (
  relay: Relay,
  source: BuildPayment | SignedPayment,
  options: Abortable & {
    readonly clock: Clock
    readonly skipPreflight?: boolean | undefined
    readonly lastValidBlockHeight?: bigint | undefined
  },
  check: (payment: SignedPayment) => Promise<unknown>,
): Promise<Prepared> => {
  const abortable: Abortable = { signal: options.signal }
  const ask = <Value>(call: () => Promise<Value>): Promise<Value> => retry(call, { ...options, tries: 5 })
  const view = () => ask(() => finalView(relay, abortable))

  const accept = async (payment: SignedPayment, blockhash: string): Promise<void> => {
    if (payment.hasNonce || payment.blockhash !== blockhash) {
      throw refusal(
        "wrong-blockhash",
        "The transaction must use the blockhash that build() got, not another or a nonce",
      )
    }
    await check(payment)
  }
  const simulate = async ({ base64 }: SignedPayment, where: ChainView, mayHaveLanded = false) => {
    const run = await ask(() => relay.simulate({ transaction: base64, sigVerify: true, ...where, ...abortable }))
    const { err, logs } = run
    if (err === null || (mayHaveLanded && err === "AlreadyProcessed")) return { slot: run.contextSlot, err }
    const message = `Nothing was stored or sent, because the transaction would fail: ${JSON.stringify(err)}`
    throw refusal("simulation-failed", message, { err, logs })
  }

  if (typeof source === "function") {
    const [latest, { height: finalizedHeight }] = await Promise.all([
      ask(() => relay.latestBlockhash(abortable)),
      view(),
    ])
    const { blockhash, lastValidBlockHeight, contextSlot } = latest
    const payment = await readPayment(await source({ blockhash, lastValidBlockHeight }))
    await accept(payment, blockhash)
    if (options.skipPreflight !== true) await simulate(payment, { minContextSlot: contextSlot })
    // The relay may report a height that is too low.
    const end = later(lastValidBlockHeight, finalizedHeight + blockhashAge)
    return { payment, finalizedHeight, lastValidBlockHeight: end, isNew: true }
  }

  await accept(source, source.blockhash)
  const { signature } = source
  const [{ status }, { height: finalizedHeight }] = await Promise.all([
    ask(() => relay.signatureStatus({ signature, searchTransactionHistory: true, ...abortable })),
    view(),
  ])
  // A block with the transaction, or a simulation that knows its blockhash, proves that the blockhash isn't newer.
  const seen = status ?? (await simulate(source, { commitment: "processed" }, true))
  const where = { commitment: "processed", minContextSlot: seen.slot } as const
  const { blockHeight } = await ask(() => relay.blockHeight({ ...where, ...abortable }))
  const end = later(heightOf(options.lastValidBlockHeight ?? 0n), blockHeight + blockhashAge)
  const isNew = status === null && seen.err === null
  return { payment: source, finalizedHeight, lastValidBlockHeight: end, isNew }
}
