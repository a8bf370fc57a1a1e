import { commitments } from "@svc/common/chain-constants"
import { type SvcError, ownError } from "../http/error.ts"
import type { Commitment } from "../relay/relay.ts"
import type { ChainError, Status } from "../relay/relay-answers.ts"

/** What became of a transaction. */
export type Outcome =
  /** It is in the block of this slot, with at least the wanted commitment. If `err` isn't null, it failed and paid its fee. */
  | {
      readonly state: "landed"
      readonly signature: string
      readonly slot: bigint
      readonly commitment: Commitment
      readonly err: ChainError | null
    }
  /** It is proven that the transaction went nowhere. `error` says why. */
  | { readonly state: "not-submitted"; readonly error: SvcError }
  /** It isn't on the chain and its blockhash has expired, so it can never land. A new one may be signed. */
  | { readonly state: "expired"; readonly signature: string }
  /** `signal` ended the wait; it may still land. Call `settle` with the signature later. */
  | { readonly state: "undecided"; readonly signature: string; readonly lastError: SvcError }

/** One observation about a transaction, in the order in which they happen. */
export type Step =
  /** The bytes go to the relay. */
  | { readonly step: "sending" }
  /** The provider accepted them. */
  | { readonly step: "accepted" }
  /** It is proven that this copy went nowhere. */
  | { readonly step: "refused"; readonly error: SvcError }
  /** This copy may be on its way. */
  | { readonly step: "uncertain"; readonly error: SvcError }
  /** The result of a look-up. `searched`: it covered the whole history. */
  | {
      readonly step: "status"
      readonly status: Status | null
      readonly contextSlot: bigint
      readonly searched: boolean
    }
  /** The chain is final up to this block height, in this slot. */
  | { readonly step: "finalized"; readonly height: bigint; readonly slot: bigint }
  /** A look-up failed and says nothing. */
  | { readonly step: "lookup-failed"; readonly error: SvcError }

/** Everything that the observations say so far. */
export type Knowledge = {
  readonly signature: string
  readonly lastValidBlockHeight: bigint
  readonly commitment: Commitment
  /** How many copies may be on their way. */
  readonly atLarge: number
  /** The result of the last look-up. */
  readonly status: Status | null
  /** For how many blocks after `lastValidBlockHeight` an empty look-up is believed; undefined: forever. */
  readonly memory?: bigint
  /** The first final block that was seen after `lastValidBlockHeight`. */
  readonly over: { readonly height: bigint; readonly slot: bigint } | undefined
  /** The last look-up searched the history up to this slot and found nothing; else undefined. */
  readonly absentUpTo: bigint | undefined
  /** The last refusal of a send. */
  readonly refusal: SvcError | undefined
  readonly lastError: SvcError | undefined
}

/** Knowledge before the first step. `atLarge` is 1 if an earlier process may have sent copies. */
export const nothingKnown = (
  transaction: Pick<Knowledge, "signature" | "lastValidBlockHeight" | "commitment" | "atLarge" | "memory">,
): Knowledge => ({
  ...transaction,
  status: null,
  over: undefined,
  absentUpTo: undefined,
  refusal: undefined,
  lastError: undefined,
})

/** Adds an observation. */
export const learn = (known: Knowledge, step: Step): Knowledge => {
  switch (step.step) {
    case "sending":
      // The copy counts as sent until a refusal proves the contrary.
      return { ...known, atLarge: known.atLarge + 1 }
    case "accepted":
      return known
    case "refused":
      return { ...known, atLarge: known.atLarge - 1, refusal: step.error, lastError: step.error }
    case "uncertain":
    case "lookup-failed":
      return { ...known, lastError: step.error }
    case "status":
      return {
        ...known,
        status: step.status,
        absentUpTo: step.status === null && step.searched ? step.contextSlot : undefined,
      }
    case "finalized":
      break
  }
  const { height, slot } = step
  return isOver(known) || height <= known.lastValidBlockHeight ? known : { ...known, over: { height, slot } }
}

/** Whether a final block is higher than the last block in which the transaction could land. */
export const isOver = ({ over }: Knowledge): boolean => over !== undefined

const depth = (commitment: Commitment | null): number => (commitment === null ? 0 : commitments.indexOf(commitment))

/** The conclusion that the knowledge allows, if any. A pure function. */
export const conclude = (known: Knowledge): Outcome | undefined => {
  const { signature, lastValidBlockHeight, status, commitment, refusal, memory, over, absentUpTo } = known
  if (status !== null && depth(status.confirmationStatus) >= depth(commitment)) {
    const reached = status.confirmationStatus ?? "processed"
    return { state: "landed", signature, slot: status.slot, commitment: reached, err: status.err }
  }
  // While any copy may be on its way, the refusal of another one proves nothing.
  if (known.atLarge === 0 && refusal !== undefined && !refusal.retryable)
    return { state: "not-submitted", error: refusal }
  // The look-up must have seen the block that makes the blockhash's expiry final.
  if (over === undefined || absentUpTo === undefined || absentUpTo < over.slot) return undefined
  // There are at least as many slots as blocks, so the look-up can't have seen a higher block.
  const lookedAt = over.height + absentUpTo - over.slot
  if (memory === undefined || lookedAt <= lastValidBlockHeight + memory) return { state: "expired", signature }
  const lastError = ownError(
    "journal-stale",
    "Too late to prove that it didn't land: providers may have dropped the history",
    { signature, hint: "Look it up in an archive, then forget the payment by force." },
  )
  return { state: "undecided", signature, lastError }
}

/** The outcome if the caller stops waiting. */
export const giveUp = (known: Knowledge): Outcome => {
  const aborted = ownError("aborted", "Given up by the caller", { signature: known.signature })
  if (known.atLarge === 0) return { state: "not-submitted", error: known.refusal ?? aborted }
  return { state: "undecided", signature: known.signature, lastError: known.lastError ?? aborted }
}
