import { commitments } from "@svc/common/chain-constants"
import { type SvcError, ownError } from "./error.ts"
import type { Commitment } from "./relay.ts"
import type { ChainError, Status } from "./relay-answers.ts"

/** What became of a transaction: exactly one of four. */
export type Outcome =
  /** It is in a block of this slot, settled as far as was asked for. `err` null: it succeeded; else it failed and paid its fee. */
  | {
      readonly state: "landed"
      readonly signature: string
      readonly slot: bigint
      readonly commitment: Commitment
      readonly err: ChainError | null
    }
  /** Proven: nobody was given the transaction. `error` says why. */
  | { readonly state: "not-submitted"; readonly error: SvcError }
  /** It is not on the chain and its blockhash is over: it can never land. A new one may be signed. */
  | { readonly state: "expired"; readonly signature: string }
  /** Given up by `signal`; it may still land. Call `settle` with the signature later. */
  | { readonly state: "undecided"; readonly signature: string; readonly lastError: SvcError }

/** One thing learnt about a transaction, in the order it happened. */
export type Step =
  /** The bytes are handed to the relay. */
  | { readonly step: "sending" }
  /** The provider took them. */
  | { readonly step: "accepted" }
  /** It is proven that this copy went to nobody. */
  | { readonly step: "refused"; readonly error: SvcError }
  /** This copy may be on its way. */
  | { readonly step: "uncertain"; readonly error: SvcError }
  /** A look-up answered; `searched`: beyond the recent past too. */
  | {
      readonly step: "status"
      readonly status: Status | null
      readonly contextSlot: bigint
      readonly searched: boolean
    }
  /** The chain is final up to this block height, which the block of this slot has. */
  | { readonly step: "finalized"; readonly height: bigint; readonly slot: bigint }
  /** A look-up failed: nothing was learnt. */
  | { readonly step: "lookup-failed"; readonly error: SvcError }

/** All that counts of what was learnt. */
export type Knowledge = {
  readonly signature: string
  readonly lastValidBlockHeight: bigint
  readonly commitment: Commitment
  /** Copies that are not proven to have gone to nobody. */
  readonly atLarge: number
  /** The last answer of a look-up. */
  readonly status: Status | null
  /** For how many blocks after `lastValidBlockHeight` a history that has nothing is believed; undefined: for ever. */
  readonly memory?: bigint
  /** The first final block found past `lastValidBlockHeight`. */
  readonly over: { readonly height: bigint; readonly slot: bigint } | undefined
  /** A searched look-up that found nothing, up to this slot; undefined when the last one was none. */
  readonly absentUpTo: bigint | undefined
  /** The last refusal of a send. */
  readonly refusal: SvcError | undefined
  readonly lastError: SvcError | undefined
}

/** Before the first step; `atLarge` 1 where an earlier process may have sent copies. */
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

/** What is known after one more step. */
export const learn = (known: Knowledge, step: Step): Knowledge => {
  switch (step.step) {
    case "sending":
      // Until the contrary is proven the copy is at large.
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

/** Whether a final block is past the last height at which the transaction could land. */
export const isOver = ({ over }: Knowledge): boolean => over !== undefined

const depth = (commitment: Commitment | null): number => (commitment === null ? 0 : commitments.indexOf(commitment))

/** What can be concluded, if anything. Pure: the same knowledge is the same conclusion. */
export const conclude = (known: Knowledge): Outcome | undefined => {
  const { signature, lastValidBlockHeight, status, commitment, refusal, memory, over, absentUpTo } = known
  if (status !== null && depth(status.confirmationStatus) >= depth(commitment)) {
    const reached = status.confirmationStatus ?? "processed"
    return { state: "landed", signature, slot: status.slot, commitment: reached, err: status.err }
  }
  // One copy at large, and a refusal of another proves nothing.
  if (known.atLarge === 0 && refusal !== undefined && !refusal.retryable)
    return { state: "not-submitted", error: refusal }
  // Whoever found nothing must have seen as far as the block that makes the blockhash's end final.
  if (over === undefined || absentUpTo === undefined || absentUpTo < over.slot) return undefined
  // There are at least as many slots as blocks, so the look-up saw no higher block than this.
  const lookedAt = over.height + absentUpTo - over.slot
  if (memory === undefined || lookedAt <= lastValidBlockHeight + memory) return { state: "expired", signature }
  const lastError = ownError(
    "journal-stale",
    "Too late to prove that it didn't land: providers may have dropped the history",
    { signature, hint: "Look it up in an archive, then forget the payment by force." },
  )
  return { state: "undecided", signature, lastError }
}

/** What to say when the caller will not wait any longer. */
export const giveUp = (known: Knowledge): Outcome => {
  const aborted = ownError("aborted", "Given up by the caller", { signature: known.signature })
  if (known.atLarge === 0) return { state: "not-submitted", error: known.refusal ?? aborted }
  return { state: "undecided", signature: known.signature, lastError: known.lastError ?? aborted }
}
