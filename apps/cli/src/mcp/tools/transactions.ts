import { looksLikeMessage } from "@svc/common/transaction-parts"
import { ToolError } from "@svc/mcp"
import { z } from "zod"
import { simulate, status } from "../../payments/inspect.ts"
import { checkParts, decoded } from "../../payments/transaction.ts"
import { openRelay, relayStack } from "../../services/relay.ts"
import { fitting, plainJson, shortened } from "../result.ts"
import { type Call, defineTool, readOnly } from "../tool.ts"

/** More than any transaction has as base64. */
const longestBytes = 16_000
export const bytes = z.string().max(longestBytes)

/** The context of a command that needs a session: for the first stack that allows transactions. */
export const relayContext = async ({ context }: Pick<Call, "context">, given: Parameters<Call["context"]>[0] = {}) =>
  context({ ...given, options: { ...given.options, stack: await relayStack(context()) } })

/** A base64 text as the bytes that a command reads. */
export const inputOf = (base64: string) => {
  checkParts(decoded(base64.replaceAll(/\s/g, "")))
  return { args: ["-"], readInput: async () => new TextEncoder().encode(base64) }
}

const messageIn = (transaction: string): string => Buffer.from(checkParts(decoded(transaction))).toString("base64")

const checkMessage = (message: string): string => {
  if (looksLikeMessage(decoded(message))) return message
  const hint = "Pass base64 of a transaction as transaction, or of its message as message."
  throw new ToolError("invalid_transaction", "message isn't a compiled message.", hint)
}

export const transactionTools = [
  defineTool({
    name: "get_transaction",
    description:
      "Look up a transaction by its signature: whether it landed, in which slot, with which error. not_found isn't proof that it can't land: for payments call settle_payments.",
    input: { signature: z.string() },
    output: {
      status: z.string(),
      slot: z.string().optional(),
      err: z.unknown().optional(),
      searched_up_to_slot: z.string(),
    },
    annotations: readOnly,
    run: async (call, { signature }) => {
      const { status: found, contextSlot } = plainJson(
        (await status(await relayContext(call, { args: [signature] }))).json,
      )
      return {
        status: found === null ? "not_found" : (found.confirmationStatus ?? "processed"),
        ...(found !== null && { slot: found.slot, err: found.err }),
        searched_up_to_slot: contextSlot,
      }
    },
  }),
  defineTool({
    name: "simulate_transaction",
    description:
      "Try a transaction (base64, signed or not) without sending it, before you ask the wallet to sign: err is null if it would succeed.",
    input: { transaction: bytes },
    output: {
      err: z.unknown(),
      units: z.string(),
      logs: z.array(z.string()),
      truncated: z.boolean().optional(),
    },
    annotations: readOnly,
    run: async (call, { transaction }) => {
      const { err, unitsConsumed, logs } = plainJson(
        (await simulate(await relayContext(call, inputOf(transaction)))).json,
      )
      const { kept, truncated } = fitting((logs ?? []).map(shortened))
      return { err, units: unitsConsumed ?? "", logs: kept, truncated }
    },
  }),
  defineTool({
    name: "get_fee",
    description:
      "Get a blockhash to sign with (for about a minute), and the fee in lamports of a transaction or of a compiled message, if you pass one (base64). null: its blockhash has expired.",
    input: { transaction: bytes.optional(), message: bytes.optional() },
    output: {
      lamports: z.string().nullish(),
      latest_blockhash: z.string(),
      last_valid_block_height: z.string(),
    },
    annotations: readOnly,
    run: async (call, { transaction, message }) => {
      if (transaction !== undefined && message !== undefined) {
        throw new ToolError("invalid-arguments", "Both transaction and message were passed.", "Pass one of them.")
      }
      const compiled = message === undefined ? transaction && messageIn(transaction) : checkMessage(message)
      const relay = await openRelay(await relayContext(call), "transaction:inspect")
      const { signal } = call
      const [latest, fee] = await Promise.all([
        relay.latestBlockhash({ signal }),
        compiled === undefined ? undefined : relay.fee({ message: compiled, signal }),
      ])
      return plainJson({
        lamports: fee?.feeLamports,
        latest_blockhash: latest.blockhash,
        last_valid_block_height: latest.lastValidBlockHeight,
      })
    },
  }),
]
