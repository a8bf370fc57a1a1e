import { signatureOf, submit, type Outcome as Ending, type Relay, type SvcError } from "@svc/client"
import type { Context, Outcome } from "./context.ts"
import { CliError, usageError } from "./errors.ts"
import { openRelay } from "./relay.ts"
import { pairs } from "./table.ts"
import { readTransaction } from "./transaction.ts"

const usualTimeoutS = 180
/** How many blocks a blockhash is good for: so far ahead is the last height of the newest one. */
const blockhashAge = 150n

const wholeNumber = (context: Context, name: string, most: number): number | undefined => {
  const text = context.options[name]
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text) || Number(text) < 1 || Number(text) > most) {
    throw usageError(`--${name} takes a whole number, 1 to ${most}.`, "send")
  }
  return Number(text)
}

const expired = (signature: string, why: string): CliError =>
  new CliError("transaction-expired", `Nothing was sent: ${why}`, {
    next: `Next: sign it again with a new blockhash; svc status ${signature} tells whether it landed before`,
    extra: { signature },
  })

/** The last height at which the transaction can land; throws when that is over already, before anything is sent. */
const lastHeight = async (
  relay: Relay,
  transaction: string | Uint8Array,
  signature: string,
  given: number | undefined,
): Promise<bigint> => {
  const { blockHeight } = await relay.blockHeight({ commitment: "processed" })
  if (given !== undefined && blockHeight > BigInt(given)) {
    throw expired(signature, `the block height is ${blockHeight}, and the transaction was good up to ${given}.`)
  }
  const { err } = await relay.simulate({ transaction, commitment: "processed" })
  if (err === "BlockhashNotFound")
    throw expired(signature, "the transaction's blockhash is over, or not of this chain.")
  return given === undefined ? blockHeight + blockhashAge : BigInt(given)
}

const exitOf = (ending: Ending): 0 | 1 | 3 => {
  if (ending.state === "undecided") return 3
  return ending.state === "landed" && ending.err === null ? 0 : 1
}

const errorText = ({ code, message, hint }: SvcError): string =>
  `${message} (${code})${hint === undefined ? "" : ` ${hint}`}`

const errorJson = ({ code, message, hint, status, requestId, details }: SvcError) => ({
  code,
  message,
  ...(hint === undefined ? {} : { hint }),
  ...(status === 0 ? {} : { status, requestId }),
  ...(details === undefined ? {} : { details }),
})

const told = (ending: Ending, signature: string, goOn: string): Outcome => {
  const error =
    ending.state === "undecided" ? ending.lastError : ending.state === "not-submitted" ? ending.error : undefined
  const landed = ending.state === "landed" ? ending : undefined
  const next = ending.state === "undecided" ? { next: goOn } : {}
  return {
    json: {
      ...ending,
      signature,
      ...(ending.state === "not-submitted" ? { error: errorJson(ending.error) } : {}),
      ...(ending.state === "undecided" ? { lastError: errorJson(ending.lastError) } : {}),
      ...next,
    },
    text: pairs([
      ["State", ending.state],
      ["Signature", signature],
      ["Slot", landed === undefined ? "" : String(landed.slot)],
      ["Commitment", landed?.commitment ?? ""],
      ["Error", landed === undefined || landed.err === null ? "" : JSON.stringify(landed.err)],
      ["Reason", error === undefined ? "" : errorText(error)],
      ["Next", next.next ?? ""],
    ]),
    exit: exitOf(ending),
  }
}

/** `svc send [FILE|-]`: hands a signed transaction over and finds out what became of it. */
export const send = async (context: Context): Promise<Outcome> => {
  const seconds = wholeNumber(context, "timeout", 86_400) ?? usualTimeoutS
  const given = wholeNumber(context, "last-valid-block-height", Number.MAX_SAFE_INTEGER)
  const transaction = await readTransaction(context)
  const signature = signatureOf(transaction)
  const relay = await openRelay(context, "send", "transaction:inspect transaction:send")
  const lastValidBlockHeight = await lastHeight(relay, transaction, signature, given)

  const leaving = new AbortController()
  const timer = setTimeout(() => leaving.abort(), seconds * 1000)
  const undo = context.onInterrupt(() => leaving.abort())
  try {
    const ending = await submit(relay, {
      transaction,
      lastValidBlockHeight,
      signal: leaving.signal,
      before: (derived) => context.note(`Signature: ${derived}`),
      onStep: ({ step }) => context.progress(`${signature.slice(0, 8)}…: ${step}`),
    })
    const { stack, "websocket-url": url } = context.options
    return told(
      ending,
      signature,
      `svc status ${signature} ${stack === undefined ? `--websocket-url ${url}` : `--stack ${stack}`}`,
    )
  } finally {
    context.progress("")
    clearTimeout(timer)
    undo()
  }
}
