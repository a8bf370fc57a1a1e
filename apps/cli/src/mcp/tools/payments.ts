import { isObject } from "@svc/common/json-object"
import { z } from "zod"
import { CliError } from "../../errors.ts"
import { type EndingJson, hasFailed, whileOpen } from "../../payments/journal.ts"
import { listPayments, settlePayments } from "../../payments/payments.ts"
import { failedNext, send } from "../../payments/send.ts"
import { fitting, following, forMore, hintFor, PaymentFailure, plainJson, shortened, shownDetails } from "../result.ts"
import { changesLittle, defineTool, readOnly } from "../tool.ts"
import { bytes, inputOf, relayContext } from "./transactions.ts"

/** Less than the minute after which clients give up a call. An undecided payment goes on with the next call. */
const timeoutSeconds = "50"

const id = z.string()
const hint = z.string().optional()
const ending = {
  id: z.string(),
  state: z.string(),
  signature: z.string().optional(),
  slot: z.unknown().optional(),
  err: z.unknown().optional(),
  reason: z
    .object({ code: z.string(), message: z.string(), hint: z.string().optional(), details: z.unknown().optional() })
    .optional(),
  next: z.string().optional(),
}

const nextSteps: Readonly<Record<string, string>> = {
  failed: `${failedNext}.`,
  expired: "It's proven that it can't land: sign it with a new blockhash and call submit_payment with the same id.",
  undecided:
    "It may still land: call submit_payment with the same id and bytes, or settle_payments if it is listed. Under another id it could be paid twice.",
  "journal-stale":
    "Don't call again and don't pay again: ask a person to look in an archive of the chain whether it was paid.",
  "other-relay": hintFor("other-relay", undefined),
  "other-chain": hintFor("other-chain", undefined),
}

const ofDamaged = "A damaged record may be of a payment that can still land."

/** The members of an ending that a caller needs. */
const endingOf = <Given extends EndingJson & { readonly next?: string }>(given: Given) => {
  const {
    lastError: _lastError,
    error: _error,
    ...rest
  } = { lastError: undefined, error: undefined, ...plainJson(given) }
  const reason =
    given.state === "undecided" ? given.lastError : given.state === "not-submitted" ? given.error : undefined
  const { err: failure, logs, ...details } = isObject(reason?.details) ? reason.details : {}
  return {
    ...rest,
    err: given.state === "landed" ? given.err : failure,
    reason: reason && {
      code: reason.code,
      message: reason.message,
      hint: reason.hint && hintFor(reason.code, reason.hint),
      details: Object.keys(details).length === 0 ? undefined : shownDetails(details),
    },
    logs: Array.isArray(logs) ? logs.map((line) => shortened(String(line))) : undefined,
    next: nextSteps[reason?.code ?? ""] ?? nextSteps[hasFailed(given) ? "failed" : given.state] ?? given.next,
  }
}

export const paymentTools = [
  defineTool({
    name: "submit_payment",
    description:
      "Send a transaction that the wallet signed (base64), exactly once, and wait for its proven end: landed, expired, not-submitted, or undecided (call again). The same id is the same payment, also after a crash (replayed: true if an earlier call made it); a new payment needs a new id.",
    input: { id, transaction: bytes, purpose: z.string().optional() },
    output: { ...ending, logs: z.array(z.string()).optional(), replayed: z.boolean().optional() },
    annotations: { destructiveHint: true, idempotentHint: true },
    untouched: "Nothing was sent. ",
    run: async (call, { id: name, transaction, purpose }) => {
      const options = { id: name, timeout: timeoutSeconds, ...(purpose !== undefined && { purpose }) }
      const input = inputOf(transaction)
      const sent = relayContext(call, { ...input, options }).then(send)
      const { json } = await sent.catch(whileOpen(call.context(), name)).catch((thrown: unknown) => {
        const isOpen = thrown instanceof CliError && thrown.exit === 3
        throw new PaymentFailure(thrown, isOpen ? "This payment may be open, and still land." : "Nothing was sent.")
      })
      return { id: name, ...endingOf(json) }
    },
  }),
  defineTool({
    name: "list_payments",
    description: "List the payments of this machine's journal. open: true lists those whose end isn't known yet.",
    input: {
      open: z.boolean().optional(),
      after: id.optional().meta({ description: "the last id of a truncated result" }),
    },
    output: {
      payments: z.array(
        z.looseObject({
          id: z.string().nullable(),
          state: z.string(),
          state_age_seconds: z.number().optional(),
          purpose: z.string().nullish(),
          payer: z.string().optional(),
          programs: z.array(z.string()).optional(),
          signature: z.string().optional(),
        }),
      ),
      truncated: z.boolean().optional(),
      hint,
    },
    annotations: readOnly,
    run: async ({ context }, { open = false, after }) => {
      const all = (await listPayments(context())).json.map((one) =>
        "purpose" in one ? Object.assign(one, { purpose: one.purpose && shortened(one.purpose) }) : one,
      )
      const later = following(plainJson(all), "id", after)
      const { kept, truncated } = fitting(later.filter(({ state }) => !open || ["open", "damaged"].includes(state)))
      const none =
        later.length === 0 || !open ? "The journal has no payments: submit_payment makes one." : "No payment is open."
      const isDamaged = kept.some(({ state }) => state === "damaged")
      const hints = [
        ...(isDamaged ? [`${ofDamaged} ${hintFor("journal-damaged", "")}`] : []),
        ...(truncated ? [forMore("id")] : []),
        ...(kept.length === 0 && after === undefined ? [none] : []),
      ]
      return { payments: kept, truncated, ...(hints.length > 0 && { hint: hints.join(" ") }) }
    },
  }),
  defineTool({
    name: "settle_payments",
    description:
      "Find out what became of open payments, or of the one with id. Sends stored bytes again unless they were rejected; signs nothing.",
    input: { id: id.optional() },
    output: {
      payments: z.array(z.looseObject({ id: z.string(), state: z.string() })),
      truncated: z.boolean().optional(),
      hint,
    },
    annotations: changesLittle,
    run: async (call, { id: name }) => {
      const given = { args: name === undefined ? [] : [name], options: { timeout: timeoutSeconds } }
      const settled = (await settlePayments(await relayContext(call, given))).json
      const { kept, truncated } = fitting(settled.map((one) => endingOf(one)))
      const stored = name === undefined ? (await listPayments(call.context())).json : []
      const isDamaged = stored.some(({ state }) => state === "damaged")
      const rest = truncated ? "Call list_payments for the rest." : undefined
      const none = kept.length === 0 ? "No payment is open." : rest
      return { payments: kept, truncated, hint: isDamaged ? "Call list_payments, which shows what is damaged." : none }
    },
  }),
]
