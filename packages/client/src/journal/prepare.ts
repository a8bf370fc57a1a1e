import { blockhashAge } from "@svc/common/chain-constants"
import type { Clock } from "../http/clock.ts"
import { asSvcError, ownError, type SvcError } from "../http/error.ts"
import { readPayment, type SignedPayment } from "./payment.ts"
import type { Abortable, ChainView, Relay, Transaction } from "../relay/relay.ts"
import { later, rowLength } from "../submit/judge.ts"
import { pauseAfter, rowPause, viewOnce } from "../submit/settle-loop.ts"
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
  /** A slot of the provider. A node that hasn't reached it may not know the blockhash: it must not reject the send for that. */
  readonly minContextSlot: bigint
  /** Whether nothing suggests that somebody has sent it before. */
  readonly isMine: boolean
}

/** Retries a call, at most `tries` times, while its errors are retryable. */
export const retry = async <Value>(
  call: () => Promise<Value>,
  { clock, tries, signal }: Abortable & { readonly clock: Clock; readonly tries: number },
): Promise<Value> => {
  let last: SvcError | undefined
  for (let failures = 1; ; failures++) {
    try {
      return await call()
    } catch (thrown) {
      // An earlier error says more than that this call was aborted.
      if (signal?.aborted && last !== undefined) throw last
      last = asSvcError(thrown, "lookup-failed", "The look-up failed")
      if (!last.retryable || failures >= tries) throw last
      await clock.sleep(pauseAfter(failures, last.retryAfterMs, clock), signal)
    }
  }
}

/** The height and slot up to which the chain is final. Throws SvcError. */
export const finalView = async (relay: Relay, abortable: Abortable) => {
  const step = await viewOnce(relay, abortable)
  if (step.step === "finalized") return step
  throw step.error
}

const lastLogs = 10

/** @param whose begins with a space, unless it is empty */
export const duplicate = (whose: string, reason: string): SvcError =>
  refusal(
    "duplicate-transaction",
    `Nothing was sent${whose}: ${reason}. It lands once, so don't sign another for it; a second payment needs a memo`,
  )

/** A node that is behind what the provider has said before knows nothing of what came since: no payment, no blockhash, no funds. */
const upToDate = <Answer extends { readonly contextSlot: bigint }>(answer: Answer, tip = 0n): Answer => {
  if (answer.contextSlot >= tip) return answer
  throw ownError("lookup-failed", "The provider lags. Nothing was stored or sent", {
    retryable: true,
  })
}

/**
 * Gets a transaction signed, checks it and simulates it. Bytes that were signed elsewhere may have been sent already: then
 * they aren't simulated.
 *
 * @param check Called with the signed transaction before the simulation. If it throws, the preparation ends.
 * @throws SvcError `wrong-blockhash`, `blockhash-not-found`, `simulation-failed`, `duplicate-transaction`, or the relay's error.
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

  const look = (signature: string, tip?: bigint) =>
    ask(async () => {
      const answer = await relay.signatureStatus({ signature, searchTransactionHistory: true, ...abortable })
      return answer.status === null ? upToDate(answer, tip) : answer
    })
  /** @param where names the slot that a node must have reached to reject the transaction */
  const simulate = async (
    { base64, signature }: SignedPayment,
    where: ChainView & { readonly minContextSlot: bigint },
  ) => {
    const { err, logs, contextSlot } = await ask(async () => {
      const answer = await relay.simulate({ transaction: base64, sigVerify: true, ...where, ...abortable })
      return answer.err === null ? answer : upToDate(answer, where.minContextSlot)
    })
    if (err === null) return { slot: contextSlot, isMine: true }
    // What fails may have landed: behind a URL there may be nodes in turns, and one alone may have the history.
    for (let looks = 0; looks < rowLength; looks++) {
      const { status } = await look(signature, contextSlot)
      if (status !== null) return { slot: status.slot, isMine: false }
      await options.clock.sleep(rowPause(options.clock), options.signal)
    }
    // The chain compares messages. Some wallets give one message many signatures.
    if (err === "AlreadyProcessed") throw duplicate("", "the chain has it under another signature")
    const details = { err, logs: logs?.slice(-lastLogs) ?? null }
    if (err === "BlockhashNotFound") {
      const message = "Nothing was stored or sent. Sign again with a new blockhash"
      throw refusal("blockhash-not-found", message, details)
    }
    const cause = await import("./simulation-cause.ts").then(
      ({ causeOf }) => causeOf(err, logs),
      () => JSON.stringify(err),
    )
    const message = `The transaction would fail: ${cause}. Nothing was stored or sent, the id is unused, and other bytes may use it`
    throw refusal("simulation-failed", message, details)
  }

  if (typeof source === "function") {
    const [latest, { height: finalizedHeight }] = await Promise.all([
      ask(() => relay.latestBlockhash(abortable)),
      view(),
    ])
    const { blockhash, lastValidBlockHeight, contextSlot } = latest
    const payment = await readPayment(await source({ blockhash, lastValidBlockHeight }))
    if (payment.blockhash !== blockhash) {
      throw refusal("wrong-blockhash", "The transaction must use the blockhash of build()")
    }
    await check(payment)
    // A builder may hand out a transaction that was sent already: another id's, or one that the wallet sent by itself.
    const { isMine } = options.skipPreflight
      ? { isMine: true }
      : await simulate(payment, { minContextSlot: contextSlot })
    // The relay may report a height that is too low.
    const end = later(lastValidBlockHeight, finalizedHeight + blockhashAge)
    return { payment, finalizedHeight, lastValidBlockHeight: end, minContextSlot: contextSlot, isMine }
  }

  await check(source)
  const { signature } = source
  const [{ status, contextSlot }, latest, { height: finalizedHeight }] = await Promise.all([
    look(signature),
    ask(() => relay.latestBlockhash(abortable)),
    view(),
  ])
  const tip = later(contextSlot, latest.contextSlot)
  // A block with the transaction, or a simulation that knows its blockhash, proves that the blockhash isn't newer. A node that
  // lags behind the look-up doesn't know the newest ones.
  const at = (minContextSlot: bigint) => ({ commitment: "processed", minContextSlot }) as const
  const { slot, isMine } = status === null ? await simulate(source, at(tip)) : { slot: status.slot, isMine: false }
  const { blockHeight } = await ask(() => relay.blockHeight({ ...at(slot), ...abortable }))
  const given = heightOf(options.lastValidBlockHeight ?? 0n)
  const end = blockHeight + blockhashAge
  // No blockhash is valid for twice as long: such a height, which may be a slot, would keep the record open for months.
  const lastValidBlockHeight = given > end + blockhashAge ? end : later(end, given)
  return { payment: source, finalizedHeight, lastValidBlockHeight, minContextSlot: latest.contextSlot, isMine }
}
