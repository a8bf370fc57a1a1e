import type { DamagedRecord, Journal, PaymentRecord, Settlement } from "@svc/client"
import type { Context, Outcome } from "../command.ts"
import { CliError, onCode } from "../errors.ts"
import { pairs, table } from "../output/table.ts"
import { openRelay } from "../services/relay.ts"
import {
  endingJson,
  exitOf,
  noteUnknownChains,
  openJournal,
  reasonOf,
  storedPayments,
  whileOpen,
  withTimeout,
} from "./journal.ts"

const find = async (journal: Journal, id: string): Promise<PaymentRecord> => {
  const record = await journal.get(id)
  if (record !== undefined) return record
  throw new CliError("payment-not-found", `The journal has no payment "${id}".`)
}

const summary = (record: PaymentRecord | DamagedRecord) => {
  if (record.state === "damaged") return { id: record.id ?? null, state: record.state, file: record.file ?? null }
  const { id, state, purpose, payer, programs, attempt, signature, lastValidBlockHeight, storedAt, stateSince, err } =
    record
  return {
    id,
    state,
    state_age_seconds: Math.max(0, Math.floor((Date.now() - Date.parse(stateSince)) / 1000)),
    purpose: purpose ?? null,
    payer,
    programs,
    attempt,
    signature,
    last_valid_block_height: lastValidBlockHeight,
    stored_at: storedAt,
    ...(state === "landed" && { err: err ?? null }),
  }
}

/** Each member of a record, and its name in the output; undefined if it isn't shown. */
const memberNames = {
  id: "id",
  state: "state",
  purpose: "purpose",
  attempt: "attempt",
  signature: "signature",
  lastValidBlockHeight: "last_valid_block_height",
  storedAt: "stored_at",
  stateSince: "state_since",
  payer: "payer",
  programs: "programs",
  version: "version",
  fingerprint: "fingerprint",
  relayUrl: "relay_url",
  genesisHash: "genesis_hash",
  finalizedHeight: "finalized_height",
  refused: "refused",
  slot: "slot",
  err: "err",
  // Whoever has the signed bytes can send them.
  transaction: undefined,
} as const satisfies Readonly<Record<keyof PaymentRecord, string | undefined>>

/** The damaged ones come first. */
const storedAt = (record: PaymentRecord | DamagedRecord): string => (record.state === "damaged" ? "" : record.storedAt)

/** `svc payments list`: every payment of the journal, the oldest first, damaged records included. */
export const listPayments = async (context: Context): Promise<Outcome<readonly ReturnType<typeof summary>[]>> => {
  const records = (await storedPayments(context).list()).toSorted((a, b) => storedAt(a).localeCompare(storedAt(b)))
  const payments = records.map(summary)
  const rows = payments.map((payment) =>
    payment.state === "damaged"
      ? [payment.id ?? "?", payment.state, "", "", "", "", payment.file ?? ""]
      : [
          payment.id,
          (payment.err ?? null) === null ? payment.state : `${payment.state}, failed`,
          `${payment.state_age_seconds} s`,
          payment.purpose ?? "",
          payment.payer,
          payment.programs.join(" "),
          payment.signature,
        ],
  )
  const heading = ["ID", "STATE", "AGE", "PURPOSE", "PAYER", "PROGRAMS", "SIGNATURE"]
  return { json: payments, text: (style) => table(heading, rows, style) }
}

/** `svc payments show ID`: one payment, without its signed bytes. */
export const showPayment = async (context: Context): Promise<Outcome> => {
  const record = await find(storedPayments(context), context.args[0] ?? "")
  const json = Object.fromEntries(
    Object.entries(memberNames).flatMap(([member, name]) => {
      const value: unknown = Reflect.get(record, member)
      return name === undefined || value === undefined ? [] : [[name, value]]
    }),
  )
  const rows = Object.entries(json).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ])
  return { json, text: (style) => pairs(rows, style) }
}

const settledJson = (one: Settlement) => ({ ...endingJson(one), id: one.id })

/** `svc payments settle [ID]`: finds out the outcome of open payments, and sends their stored bytes again. */
export const settlePayments = (context: Context): Promise<Outcome<readonly ReturnType<typeof settledJson>[]>> =>
  settleOpen(context).catch(whileOpen(context, context.args[0]))

const settleOpen: typeof settlePayments = async (context) => {
  const [id] = context.args
  if (id !== undefined) await find(storedPayments(context), id)
  const relay = await openRelay(context, "transaction:inspect transaction:send")
  const journal = openJournal(context, relay)
  await noteUnknownChains(context, journal, relay, id)
  const settled: readonly Settlement[] = await withTimeout(context, (signal) =>
    journal.settleAll({
      signal,
      allowRelay: context.flags.has("allow-relay-change"),
      ...(id === undefined ? {} : { id }),
    }),
  )
  const damaged = id === undefined ? (await journal.list()).filter(({ state }) => state === "damaged") : []
  if (damaged.length > 0)
    context.note(`Damaged records, which can't be settled: ${damaged.length}. Next: svc payments list`)
  const rows = settled.map((one) => [one.id, one.state, one.signature, reasonOf(one)])
  const exits = new Set(settled.map(exitOf))
  return {
    json: settled.map(settledJson),
    text: (style) => table(["ID", "STATE", "SIGNATURE", "REASON"], rows, style),
    exit: exits.has(3) || damaged.length > 0 ? 3 : exits.has(1) ? 1 : 0,
  }
}

/** `svc payments forget ID`: the next payment with this id is a new one. */
export const forgetPayment = async (context: Context): Promise<Outcome> => {
  const [id = ""] = context.args
  const journal = storedPayments(context)
  const force = context.flags.has("force")
  // A damaged record can't be read, and only force forgets it.
  await find(journal, id).catch(
    onCode("journal-damaged", (error) => {
      if (!force) throw error
    }),
  )
  await journal.forget(id, { force })
  return { json: { id, state: "forgotten" }, text: () => `The next payment with the id "${id}" is a new one.` }
}
