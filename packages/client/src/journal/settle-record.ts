import type { Clock } from "../http/clock.ts"
import type { SvcError } from "../http/error.ts"
import { conclude, learn, nothingKnown, type Outcome } from "../submit/judge.ts"
import type { Records } from "./journal-records.ts"
import { readExpiring } from "./payment.ts"
import { finalView, retry } from "./prepare.ts"
import type { Abortable, Relay } from "../relay/relay.ts"
import { lookOnce, type LoopOptions, settleWith } from "../submit/settle-loop.ts"
import type { PaymentRecord } from "./store.ts"
import { stoppedError } from "../relay/wire.ts"

export type Shared = {
  /** Continues payments that were stored with another relay URL of the same chain. */
  readonly allowRelay?: boolean | undefined
}

/** How a payment ended, or `undecided`. Only bytes that were signed elsewhere end in `expired`. */
export type PaymentOutcome = Exclude<Outcome, { state: "not-submitted" }> & {
  /** An earlier call stored or sent the transaction. */
  readonly replayed?: true
}

type SettleOptions = Shared &
  Omit<LoopOptions, "clock"> & {
    /** Whether no other process can have sent the attempt. */
    readonly isMine?: boolean
    readonly resend?: boolean
  }

type Settler = Shared & {
  readonly relay: Relay
  readonly records: Pick<Records, "write">
  readonly genesisHash: () => Promise<string | undefined>
  readonly clock: Clock
}

/** Makes a function that finds out what became of a stored attempt. */
export const createSettler = ({ relay, records, allowRelay, genesisHash, clock }: Settler) => {
  /** Throws before anything is sent to another chain or concluded from it. */
  const checkChain = async (record: PaymentRecord, options: Shared & Abortable) => {
    const { id, relayUrl, genesisHash: stored, finalizedHeight } = record
    if (relayUrl !== relay.url && !(options.allowRelay ?? allowRelay)) {
      throw stoppedError(
        "other-relay",
        `"${id}" was stored with ${relayUrl}: use that relay, or allowRelay for the same chain`,
      )
    }
    // Behind the same URL there may be another chain: its operator may have changed the provider.
    const now = stored && (await genesisHash())
    if (now !== undefined && now !== stored) {
      throw stoppedError("other-chain", `"${id}" was stored on chain ${stored}, and this one is ${now}`)
    }
    // A provider may be some blocks behind another.
    for (let looks = 0; looks < 3; looks++) {
      const view = await retry(() => finalView(relay, options), { ...options, clock, tries: Infinity })
      if (view.height >= BigInt(finalizedHeight)) return view
      await clock.sleep(1000, options.signal)
    }
    throw stoppedError("other-chain", `"${id}" was stored at block ${finalizedHeight}, and this chain is lower`)
  }

  /** Finds out what became of a stored attempt and stores a final result. With `resend` it also sends the bytes again. */
  return async (
    record: PaymentRecord,
    { isMine, resend = true, ...options }: SettleOptions,
  ): Promise<PaymentOutcome> => {
    const { state, signature, transaction, slot = "0", err = null } = record
    switch (state) {
      case "landed":
        return { state, signature, slot: BigInt(slot), commitment: "finalized", err }
      case "expired":
        return { state, signature }
      case "open":
    }
    const { commitment = "finalized", signal } = options
    const lastValidBlockHeight = BigInt(record.lastValidBlockHeight)
    // Other processes may have sent what they found in the store.
    const { message } = readExpiring(transaction)
    let known = nothingKnown({ signature, lastValidBlockHeight, commitment, message, atLarge: isMine ? 0 : 1 })
    if (!isMine) {
      try {
        known = learn(known, await checkChain(record, options))
        known = learn(known, await lookOnce(relay, signature, true, { signal }))
      } catch (error) {
        if (signal?.aborted !== true) throw error
        known = { ...known, lastError: error as SvcError }
      }
    }
    const plan = { ...options, commitment, clock, base64: resend ? transaction : undefined, isProvenHeight: true }
    const outcome = conclude(known) ?? (await settleWith(relay, plan, known))
    const next = { ...record, version: record.version + 1 }
    if (outcome.state === "not-submitted") {
      const { error } = outcome
      // If the caller gave up, other processes may send what the store has. If one has changed the record, it may have ended.
      const isOpen = error.retryable || error.code === "aborted"
      if (isOpen || !(await records.write({ ...next, refused: error.code })))
        return { state: "undecided", signature, lastError: error }
      throw error
    }
    const stateSince = new Date().toISOString()
    if (outcome.state === "expired") await records.write({ ...next, state: "expired", stateSince })
    if (outcome.state === "landed" && outcome.commitment === "finalized") {
      // If this fails, the next run finds it on the chain again.
      const landed = { state: "landed", slot: String(outcome.slot), err: outcome.err } as const
      await records.write({ ...next, ...landed, stateSince }).catch(() => {})
    }
    return outcome
  }
}
