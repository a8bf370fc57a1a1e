import { blockhashAge } from "@svc/common/chain-constants"
import { asSvcError } from "./error.ts"
import type { Step } from "./judge.ts"
import type { Abortable, Relay, SendOptions } from "./relay.ts"

const failed = (thrown: unknown): Step => ({
  step: "lookup-failed",
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
): Promise<Step> => {
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
export const viewOnce = async (relay: Relay, abortable: Abortable): Promise<Step> => {
  try {
    const { contextSlot, lastValidBlockHeight } = await relay.latestBlockhash({ commitment: "finalized", ...abortable })
    return { step: "finalized", height: lastValidBlockHeight - blockhashAge, slot: contextSlot }
  } catch (thrown) {
    return failed(thrown)
  }
}
