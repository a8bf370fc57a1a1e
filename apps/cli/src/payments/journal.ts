import { join } from "node:path"
import { createJournal, createRelay, type Journal, type PaymentOutcome, type Relay, type SvcError } from "@svc/client"
import { fileStore } from "@svc/client/node"
import type { Context } from "../command.ts"
import { saidBy, stepAfter, withUnknownOutcome } from "../errors.ts"
import { relayHealth } from "../services/relay.ts"
import { storedIn } from "../settings/files.ts"
import { untilStopped } from "../until-stopped.ts"

/** The outcome of a transaction, as far as this run knows. */
export type Ending = PaymentOutcome | { readonly state: "not-submitted"; readonly error: SvcError }

export const usualTimeoutS = 180

/** This user's payments, in the folder that --journal names, else in the settings folder. */
export const openJournal = (context: Context, relay: Relay): Journal => {
  let asked: Promise<string | undefined> | undefined
  return createJournal({
    relay,
    store: fileStore(context.options["journal"] ?? join(storedIn(context.folder), "payments")),
    genesisHash: () => (asked ??= relayHealth(context, relay.url).then(({ chain }) => chain?.genesis_hash)),
  })
}

/** The journal for commands that only read or change records, and so need no session. */
export const storedPayments = (context: Context): Journal =>
  openJournal(context, createRelay({ relayUrl: "http://localhost", session: { token: async () => "" } }))

/** For `catch`: throws the error; the outcome is unknown if the payment, or without `id` any, may be open. */
export const whileOpen =
  (context: Context, id: string | undefined) =>
  async (thrown: unknown): Promise<never> => {
    const journal = storedPayments(context)
    const stored = id === undefined ? journal.list() : journal.get(id).then((record) => [record])
    // What can't be read may be open.
    const states = await stored.then((records) => records.map((record) => record?.state)).catch(() => ["damaged"])
    if (states.includes("open") || states.includes("damaged")) withUnknownOutcome(thrown)
    throw thrown
  }

/** Says of which open payments of another relay's URL, or of the one with this id, it can't be told whether the chain is the same. */
export const noteUnknownChains = async (
  context: Context,
  journal: Journal,
  relay: Relay,
  id?: string,
): Promise<void> => {
  if (!context.flags.has("allow-relay-change")) return
  const others = (await journal.list({ open: true })).flatMap((record) =>
    record.state === "damaged" || record.relayUrl === relay.url || (id ?? record.id) !== record.id ? [] : [record],
  )
  if (others.length === 0) return
  const now = (await relayHealth(context, relay.url)).chain?.genesis_hash
  for (const { id: name, relayUrl, genesisHash } of others) {
    if (now !== undefined && genesisHash !== undefined) continue
    context.note(
      `Whether ${relay.url} is of the chain of "${name}", stored with ${relayUrl}, can't be told: --allow-relay-change alone continues it.`,
    )
  }
}

/** Runs with a signal that aborts after --timeout, or when the user interrupts. */
export const withTimeout = <Value>(context: Context, run: (signal: AbortSignal) => Promise<Value>): Promise<Value> =>
  untilStopped(context, Number(context.options["timeout"] ?? usualTimeoutS), run).finally(() => context.progress(""))

/** Whether it's final that it landed and failed. */
export const hasFailed = (ending: Ending | EndingJson): boolean =>
  ending.state === "landed" && ending.commitment === "finalized" && ending.err !== null

/** 0: it landed. 1: it failed, can't land or wasn't sent. 3: it may still land. */
export const exitOf = (ending: Ending): 0 | 1 | 3 => {
  const landed = ending.state === "landed" && ending.err === null ? 0 : 1
  return ({ landed, expired: 1, "not-submitted": 1, undecided: 3 } as const)[ending.state]
}

const errorJson = ({ code, message, hint, status, requestId, details }: SvcError) => ({
  code,
  message,
  hint,
  ...(status === 0 ? {} : { status, requestId }),
  details,
})

/** A retryable error's advice is about the one request that failed, often a look-up. It says nothing about the open payment. */
const isAboutPayment = ({ retryable }: SvcError): boolean => !retryable

/** An outcome as JSON. Its error has only the members that are useful to a caller. */
export const endingJson = (ending: Ending) => {
  if (ending.state === "not-submitted") return { ...ending, error: errorJson(ending.error) }
  if (ending.state !== "undecided") return ending
  const { hint, ...error } = errorJson(ending.lastError)
  return { ...ending, lastError: { ...error, hint: isAboutPayment(ending.lastError) ? hint : undefined } }
}

export type EndingJson = ReturnType<typeof endingJson>

const errorText = (error: SvcError, isAdvised = true): string => {
  const advice = isAdvised ? stepAfter(error) : undefined
  return `${saidBy(error)} (${error.code})${advice === undefined ? "" : ` ${advice}`}`
}

/** The reason for an outcome: the chain's error, or a service's last one. */
export const reasonOf = (ending: Ending): string => {
  if (ending.state === "undecided") return errorText(ending.lastError, isAboutPayment(ending.lastError))
  if (ending.state === "not-submitted") return errorText(ending.error)
  return ending.state === "landed" && ending.err !== null ? JSON.stringify(ending.err) : ""
}
