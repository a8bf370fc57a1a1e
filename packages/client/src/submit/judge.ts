import { blockhashAge, commitments } from "@svc/common/chain-constants"
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
  /** No copy of this call went anywhere, and none was seen in a block. `error` says why. */
  | { readonly state: "not-submitted"; readonly error: SvcError }
  /** It isn't on the chain and its blockhash has expired, so it can never land. A new one may be signed. */
  | { readonly state: "expired"; readonly signature: string }
  /** `signal` ended the wait, or it is too late to prove its end (`journal-stale`); it may still land. Call `settle` with the signature later. */
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
  /** Whether the chain still accepts the blockhash, at this commitment. undefined: the provider can't tell. */
  | {
      readonly step: "blockhash"
      readonly isKnown: boolean | undefined
      readonly commitment: Commitment
      readonly contextSlot: bigint
    }
  /** A look-up failed and says nothing. */
  | { readonly step: "lookup-failed"; readonly error: SvcError }

/** Everything that the observations say so far. */
export type Knowledge = {
  readonly signature: string
  /** The block height up to which the blockhash is said to be valid: by the caller, or by the chain if that is later. */
  readonly lastValidBlockHeight: bigint
  readonly commitment: Commitment
  /** The message, if its bytes are at hand and the provider can tell whether their blockhash is valid. */
  readonly message: Uint8Array | undefined
  /** How many copies may be on their way; Infinity once one was found in a block, whoever sent it. */
  readonly atLarge: number
  /** The result of the last look-up. */
  readonly status: Status | null
  /** Whether a look-up has ever found a block that is confirmed, which the chain doesn't drop. */
  readonly wasConfirmed: boolean
  /** The highest slot that the provider had named by the first look: the bytes and their blockhash existed then. */
  readonly tip: bigint
  /** No blockhash that existed at the first look is valid in a higher block. */
  readonly bound?: bigint
  /** A final block that is too high for the transaction, unless its blockhash is still valid. */
  readonly over?: { readonly height: bigint; readonly slot: bigint } | undefined
  /** The blockhash was unknown when it was asked for before this row of look-ups. */
  readonly isForgotten: boolean
  /** How many look-ups searched the history up to `over` and found nothing, each after the blockhash was found unknown. */
  readonly absences: number
  /** The slot of the last of them. */
  readonly absentUpTo: bigint
  /** The last refusal of a send. */
  readonly refusal?: SvcError
  readonly lastError?: SvcError
}

/** For how many blocks after its last one a provider is trusted to find a transaction. */
export const memory = 150_000n

/** How many look-ups follow each other: behind a URL there may be nodes in turns, and one alone may have the history. */
export const rowLength = 6

/** Knowledge before the first step. `atLarge` is 1 if an earlier process may have sent copies. */
export const nothingKnown = (
  transaction: Pick<Knowledge, "signature" | "lastValidBlockHeight" | "commitment" | "message" | "atLarge">,
): Knowledge => ({
  ...transaction,
  status: null,
  wasConfirmed: false,
  tip: 0n,
  isForgotten: false,
  absences: 0,
  absentUpTo: 0n,
})

/** The greater one. */
export const later = (one: bigint, other: bigint): bigint => (one > other ? one : other)

/** The commitment at which the blockhash is asked for next: its block may not be final yet, or the node may follow a fork. */
export const nextCommitment = ({ absences }: Knowledge): Commitment =>
  commitments.at(-1 - Math.floor(absences / rowLength)) ?? "processed"

/** Whether a row of look-ups has begun: the next one follows at once. */
export const isInRow = ({ absences }: Pick<Knowledge, "absences">): boolean => absences % rowLength > 0

/** The slot that a response about the blockhash must have reached: a node that lags doesn't know the newest ones. */
export const slotToReach = ({ tip, over }: Knowledge, commitment: Commitment): bigint =>
  later(over?.slot ?? tip, commitment === "processed" ? tip : 0n)

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
    case "status": {
      const { status, contextSlot, searched } = step
      const tip = known.bound === undefined ? later(known.tip, contextSlot) : known.tip
      if (status !== null) {
        const wasConfirmed = known.wasConfirmed || (status.confirmationStatus ?? "processed") !== "processed"
        return { ...known, tip, status, wasConfirmed, isForgotten: false, absences: 0, atLarge: Infinity }
      }
      const { message, over, isForgotten, absences, absentUpTo } = known
      const counts =
        over !== undefined && searched && contextSlot >= over.slot && (message === undefined || isForgotten)
      const seen = { ...known, tip, status, absences: counts ? absences + 1 : absences }
      return {
        ...seen,
        isForgotten: isForgotten && (!counts || isInRow(seen)),
        absentUpTo: counts ? contextSlot : absentUpTo,
      }
    }
    case "blockhash": {
      const { isKnown, commitment, contextSlot } = step
      if (isKnown === undefined) return { ...known, message: undefined, over: undefined, absences: 0 }
      if (!isKnown) return { ...known, isForgotten: contextSlot >= slotToReach(known, commitment) }
      // The caller's height was too low.
      const lastValidBlockHeight = later(known.lastValidBlockHeight, known.over?.height ?? 0n)
      return { ...known, lastValidBlockHeight, over: undefined, isForgotten: false, absences: 0 }
    }
    case "finalized":
      break
  }
  const { height, slot } = step
  const tip = known.bound === undefined ? later(known.tip, slot) : known.tip
  // There are at least as many slots as blocks, so the tip's block isn't higher.
  const bound = known.bound ?? height + tip - slot + blockhashAge
  const seen = { ...known, tip, bound }
  return isOver(seen) || height <= endOf(seen) ? seen : { ...seen, over: { height, slot } }
}

/** Without the message, nobody can tell whether the caller's height is too low. */
const endOf = ({ message, lastValidBlockHeight, bound = lastValidBlockHeight }: Knowledge): bigint =>
  message === undefined ? later(lastValidBlockHeight, bound) : lastValidBlockHeight

/** Whether a final block seems to be higher than the last block in which the transaction could land. */
export const isOver = ({ over }: Knowledge): boolean => over !== undefined

/** The conclusion that the knowledge allows, if any. A pure function. */
export const conclude = (known: Knowledge): Outcome | undefined => {
  const { signature, lastValidBlockHeight, status, commitment, refusal, over, absences, absentUpTo } = known
  const reached = status?.confirmationStatus ?? "processed"
  // A commitment that doesn't exist, of a program without types, is like the last one.
  if (status !== null && commitments.slice(commitments.indexOf(commitment)).includes(reached)) {
    return { state: "landed", signature, slot: status.slot, commitment: reached, err: status.err }
  }
  // While any copy may be on its way, the refusal of another one proves nothing.
  if (known.atLarge === 0 && refusal !== undefined && !refusal.retryable)
    return { state: "not-submitted", error: refusal }
  if (over === undefined || absences < commitments.length * rowLength || known.wasConfirmed) return undefined
  // There are at least as many slots as blocks, so the look-up can't have seen a higher block.
  const lookedAt = over.height + absentUpTo - over.slot
  if (lookedAt <= lastValidBlockHeight + memory) return { state: "expired", signature }
  const lastError = ownError("journal-stale", "Too late to prove that it didn't land", {
    signature,
    hint: "Look in an archive whether it was paid, then forget it by force",
  })
  return { state: "undecided", signature, lastError }
}

/** The outcome if the caller stops waiting. */
export const giveUp = (known: Knowledge): Outcome => {
  const aborted = ownError("aborted", "Aborted", { signature: known.signature })
  if (known.atLarge === 0) return { state: "not-submitted", error: known.refusal ?? aborted }
  return { state: "undecided", signature: known.signature, lastError: known.lastError ?? aborted }
}
