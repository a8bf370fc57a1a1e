import { createJournal, memoryStore, settle, signatureOf, SvcError, type SubmitOnceOptions } from "@svc/client"
import type { Context, Outcome } from "../command.ts"
import { usageError } from "../errors.ts"
import {
  type Ending,
  endingJson,
  exitOf,
  noteUnknownChains,
  openJournal,
  reasonOf,
  stackWords,
  withTimeout,
} from "./journal.ts"
import { textOf } from "../output/json-value.ts"
import { openRelay } from "../services/relay.ts"
import { pairs } from "../output/table.ts"
import { readTransaction } from "./transaction.ts"

/**
 * After this many blocks a transaction with an unknown blockhash can't land anymore: a blockhash is valid for 150 blocks, and a
 * provider that lags may not know the newest 150.
 */
const unknownBlockhashEnd = 300n
/** Counted from when the blockhash was first found unknown: a later call of this process waits no longer than the first. */
const ends = new Map<string, bigint>()

const quoted = (text: string): string => (/^[\w.:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

const nextOf = (ending: Ending, id: string | undefined, signature: string, context: Context): string => {
  if (ending.state === "expired") return "It's proven that it can't land. Sign the payment with a new blockhash"
  if (ending.state === "not-submitted") {
    return "Correct the cause, then run the command again with the same bytes. Other bytes are safe only after it says expired"
  }
  if (ending.state === "landed") return ""
  return `svc ${id === undefined ? `status ${signature}` : `payments settle ${quoted(id)}`} ${stackWords(context)}`
}

const outcomeOf = (ending: Ending, id: string | undefined, given: string, context: Context): Outcome => {
  const signature = ending.state === "not-submitted" ? given : ending.signature
  const landed = ending.state === "landed" ? ending : undefined
  const next = nextOf(ending, id, signature, context)
  const rows = [
    ["Payment", id ?? ""],
    ["State", ending.state],
    ["Signature", signature],
    ["Slot", String(landed?.slot ?? "")],
    ["Commitment", landed?.commitment ?? ""],
    [landed === undefined ? "Reason" : "Error", reasonOf(ending)],
    ["Next", next],
  ] as const
  return {
    json: { ...(id === undefined ? {} : { id }), ...endingJson(ending), signature, ...(next === "" ? {} : { next }) },
    text: (style) => pairs(rows, style),
    exit: exitOf(ending),
  }
}

/** `svc send [FILE|-]`: sends a signed transaction and waits for its outcome. */
export const send = async (context: Context): Promise<Outcome> => {
  const { id, journal: folder, purpose } = context.options
  if (id === undefined && folder !== undefined) throw usageError("--journal FOLDER needs --id NAME.")
  if (id === undefined && purpose !== undefined) throw usageError("--purpose TEXT needs --id NAME.")
  const given = BigInt(context.options["last-valid-block-height"] ?? 0)
  const transaction = await readTransaction(context)
  const signature = signatureOf(transaction)
  return withTimeout(context, async (signal) => {
    const relay = await openRelay(context, "transaction:inspect transaction:send")
    const { blockHeight } = await relay.blockHeight({ commitment: "processed", signal })
    let isNoted = false
    const options = {
      signal,
      commitment: id === undefined ? "confirmed" : "finalized",
      lastValidBlockHeight: given,
      allowRelay: context.flags.has("allow-relay-change"),
      ...(purpose !== undefined && { purpose }),
      onStep: ({ step }) => {
        if (step === "sending" && id === undefined && !isNoted) {
          isNoted = true
          context.note(`Signature: ${signature}`)
        }
        context.progress(`${signature.slice(0, 8)}…: ${step}`)
      },
    } as const satisfies SubmitOnceOptions

    const pay = async (): Promise<Ending> => {
      // Without an id, a journal for this run only makes the same rules hold.
      const journal = id === undefined ? createJournal({ relay, store: memoryStore() }) : openJournal(context, relay)
      if (id !== undefined) await noteUnknownChains(context, journal, relay, id)
      try {
        return await journal.submitOnce(id ?? signature, transaction, options)
      } catch (thrown) {
        if (!(thrown instanceof SvcError)) throw thrown
        const { code, details, status, submissionState } = thrown
        if (code === "aborted") return { state: "undecided", signature, lastError: thrown }
        if (code === "simulation-failed" && textOf(details, "err") === "BlockhashNotFound") {
          // An earlier run may have sent it: only the chain knows.
          const known = `${relay.url} ${signature}`
          const last = ends.get(known) ?? blockHeight + unknownBlockhashEnd
          ends.set(known, last)
          const lastValidBlockHeight = last > options.lastValidBlockHeight ? last : options.lastValidBlockHeight
          return settle(relay, { ...options, signature, lastValidBlockHeight })
        }
        if (code !== "simulation-failed" && (status === 0 || submissionState !== "not_submitted")) throw thrown
        return { state: "not-submitted", error: thrown }
      }
    }
    return outcomeOf(await pay(), id, signature, context)
  })
}
