import { shellWord } from "@svc/common/foreign-text"
import { createJournal, memoryStore, signatureOf, SvcError, type SubmitOnceOptions } from "@svc/client"
import type { Context, Outcome } from "../command.ts"
import { onCode, saysUnsent, usageError } from "../errors.ts"
import {
  type Ending,
  type EndingJson,
  endingJson,
  exitOf,
  hasFailed,
  noteUnknownChains,
  openJournal,
  reasonOf,
  whileOpen,
  withTimeout,
} from "./journal.ts"
import { openRelay } from "../services/relay.ts"
import { keptOptions, withKeptOptions } from "../usage/kept-options.ts"
import { pairs, plain } from "../output/table.ts"
import { readTransaction } from "./transaction.ts"

/** The errors of a payment of which nothing was stored or sent, and what to do then. */
const untouched: Readonly<Record<string, string>> = {
  aborted: "Send the same bytes again",
  "simulation-failed":
    "Correct what the reason names (the payer's balance, the amount, the accounts), sign the payment again and send the new bytes",
  "blockhash-not-found": "Sign the payment again and send the new bytes",
}

/** What to do about a payment that landed and failed, which is final. */
export const failedNext =
  "It failed on the chain, so only the fee was paid. Correct the cause, then pay under another id: this one is spent"

const nextOf = (ending: Ending, id: string | undefined, signature: string, context: Context): string => {
  if (ending.state === "expired") return "It's proven that it can't land. Sign the payment with a new blockhash"
  if (ending.state === "not-submitted") {
    const step = untouched[ending.error.code]
    if (step === undefined)
      return "Correct the cause, then send the same bytes again. Other bytes are safe only after it says expired"
    return id === undefined ? step : `${step} with the same id`
  }
  if (ending.state === "landed") return id !== undefined && hasFailed(ending) ? failedNext : ""
  if (ending.lastError.code === "journal-stale") {
    const forget = id === undefined ? "" : `. Then: svc payments forget ${shellWord(id)} --force`
    return withKeptOptions(`Look in an archive of the chain whether it was paid${forget}`, context)
  }
  if (id !== undefined && ending.lastError.submissionState === "not_submitted") {
    return "The payment is stored and stays open: correct the cause, then send the same bytes with the same id again. Under another id it could be paid twice"
  }
  return `svc ${id === undefined ? `status ${signature}` : `payments settle ${shellWord(id)}`} ${keptOptions(context)}`
}

/** The last logs of a failed simulation. */
const logsOf = (ending: Ending): readonly string[] => {
  const { logs }: { readonly logs?: unknown } = Object(ending.state === "not-submitted" && ending.error.details)
  return Array.isArray(logs) ? logs.map(String) : []
}

type Sent = EndingJson & { readonly id?: string; readonly signature: string; readonly next?: string }

const outcomeOf = (ending: Ending, id: string | undefined, given: string, context: Context): Outcome<Sent> => {
  const signature = ending.state === "not-submitted" ? given : ending.signature
  const landed = ending.state === "landed" ? ending : undefined
  const next = nextOf(ending, id, signature, context)
  const rows = [
    ["Payment", id ?? ""],
    ["State", ending.state],
    ["Signature", signature],
    ["Slot", String(landed?.slot ?? "")],
    ["Commitment", landed?.commitment ?? ""],
    ["Replayed", landed?.replayed === true ? "yes: an earlier run brought it about" : ""],
    [landed === undefined ? "Reason" : "Error", reasonOf(ending)],
    ["Next", next],
    ...logsOf(ending).map((line) => ["Log", plain(line)] as const),
  ] as const
  return {
    json: { ...(id === undefined ? {} : { id }), ...endingJson(ending), signature, ...(next === "" ? {} : { next }) },
    text: (style) => pairs(rows, style),
    exit: exitOf(ending),
    lasting: rows.flatMap(([label, value]) => (value === "" ? [] : [`${label}: ${value}`])).join(". "),
  }
}

/** `svc send [FILE|-]`: sends a signed transaction and waits for its outcome. */
export const send = (context: Context): Promise<Outcome<Sent>> => {
  const { id } = context.options
  return id === undefined ? sendAndWait(context) : sendAndWait(context).catch(whileOpen(context, id))
}

const sendAndWait: typeof send = async (context) => {
  const { id, journal: folder, purpose } = context.options
  if (id === undefined && folder !== undefined) throw usageError("--journal FOLDER needs --id NAME.")
  if (id === undefined && purpose !== undefined) throw usageError("--purpose TEXT needs --id NAME.")
  const given = BigInt(context.options["last-valid-block-height"] ?? 0)
  const transaction = await readTransaction(context)
  const signature = signatureOf(transaction)
  const sending = withTimeout(context, async (signal) => {
    const relay = await openRelay(context, "transaction:inspect transaction:send")
    let isNoted = false
    const options = {
      signal,
      commitment: id === undefined ? "confirmed" : "finalized",
      lastValidBlockHeight: given,
      allowRelay: context.flags.has("allow-relay-change"),
      ...(purpose !== undefined && { purpose }),
      onStep: ({ step }) => {
        if (step === "sending" && !isNoted) {
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
        const { code, submissionState, signature: sent = "" } = thrown
        // The relay's refusal of this transaction.
        const isRefused = submissionState === "not_submitted" && sent !== ""
        if (!Object.hasOwn(untouched, code) && !isRefused) throw thrown
        // What is stored can still land: the next run sends it again.
        if (isRefused && id !== undefined) return { state: "undecided", signature, lastError: thrown }
        return { state: "not-submitted", error: thrown }
      }
    }
    return outcomeOf(await pay(), id, signature, context)
  })
  return sending.catch(
    // What isn't an outcome has ended the run before it sent anything.
    onCode(undefined, (error): never => {
      const isSaid = error.exit === 2 || saysUnsent(error.message, error.next)
      if (!isSaid) error.message = `This run sent nothing. ${error.message}`
      throw error
    }),
  )
}
