// Loaded later: programs without kit don't need it.
import { commitments } from "@svc/common/chain-constants"
import type { SvcError } from "../http/error.ts"
import { isObject, type Json } from "../http/json.ts"
import type { Abortable, ChainView, Commitment, Relay } from "./relay.ts"
import type { Status } from "./relay-answers.ts"

/** What the relay doesn't support. */
class NotCarried extends Error {}

/** Options that are read; one that the relay cannot carry is refused rather than dropped. */
const optionsOf = (value: unknown, known: readonly string[]): Json => {
  if (value !== undefined && value !== null && !isObject(value)) throw new NotCarried("options must be an object")
  const given = Object.entries(value ?? {}).filter(([, member]) => member !== undefined && member !== null)
  for (const [name] of given) {
    if (!known.includes(name)) throw new NotCarried(`the relay has no option ${name}`)
  }
  return Object.fromEntries(given)
}

const u64 = (value: unknown, name: string): bigint => {
  if (typeof value === "bigint") return value
  if (Number.isSafeInteger(value)) return BigInt(Number(value))
  throw new NotCarried(`${name} must be an exact integer`)
}

// kit leaves `finalized` out of its requests: it is the validators' default.
const commitmentOf = (value: unknown): Commitment => {
  if (value === undefined) return "finalized"
  const known = commitments.find((one) => one === value)
  if (known !== undefined) return known
  throw new NotCarried(`${JSON.stringify(value)} is not a commitment`)
}

const viewOf = ({ commitment, minContextSlot }: Json): ChainView => ({
  commitment: commitmentOf(commitment),
  minContextSlot: minContextSlot === undefined ? undefined : u64(minContextSlot, "minContextSlot"),
})

const firstText = ([value]: readonly unknown[]): string => {
  if (typeof value !== "string") throw new NotCarried("parameter 0 must be a string")
  return value
}

const base64Only = (options: Json): void => {
  if (options["encoding"] !== "base64") throw new NotCarried("encoding must be base64")
}

const flag = (options: Json, name: string): Record<string, boolean> =>
  options[name] === undefined ? {} : { [name]: options[name] === true }

const inContext = (slot: bigint, value: unknown) => ({ context: { slot }, value })

const rpcStatus = (status: Status | null) =>
  status === null ? null : { ...status, status: status.err === null ? { Ok: null } : { Err: status.err } }

type Method = (relay: Relay, params: readonly unknown[], signal: Abortable) => Promise<unknown>

const view = ["commitment", "minContextSlot"]

const methods: Readonly<Record<string, Method>> = {
  getLatestBlockhash: async (relay, [options], signal) => {
    const { contextSlot, ...value } = await relay.latestBlockhash({ ...viewOf(optionsOf(options, view)), ...signal })
    return inContext(contextSlot, value)
  },
  getBlockHeight: async (relay, [options], signal) =>
    (await relay.blockHeight({ ...viewOf(optionsOf(options, view)), ...signal })).blockHeight,
  getFeeForMessage: async (relay, params, signal) => {
    const read = viewOf(optionsOf(params[1], view))
    const message = firstText(params)
    const { contextSlot, feeLamports } = await relay.fee({ message, ...read, ...signal })
    return inContext(contextSlot, feeLamports)
  },
  simulateTransaction: async (relay, params, signal) => {
    const flags = ["sigVerify", "replaceRecentBlockhash", "innerInstructions"]
    const options = optionsOf(params[1], [...view, "encoding", "accounts", ...flags])
    base64Only(options)
    const accounts = optionsOf(options["accounts"], ["addresses", "encoding"])
    if (options["accounts"] !== undefined) base64Only(accounts)
    const { addresses } = accounts
    const { contextSlot, ...value } = await relay.simulate({
      transaction: firstText(params),
      ...viewOf(options),
      ...Object.assign({}, ...flags.map((name) => flag(options, name))),
      ...(Array.isArray(addresses) ? { accounts: addresses.map(String) } : {}),
      ...signal,
    })
    return inContext(contextSlot, value)
  },
  getSignatureStatuses: async (relay, params, signal) => {
    const options = optionsOf(params[1], ["searchTransactionHistory"])
    const [signatures] = params
    if (!Array.isArray(signatures) || signatures.length === 0) {
      throw new NotCarried("parameter 0 must be a list of signatures")
    }
    const asked = signatures.map((signature) =>
      relay.signatureStatus({ signature: String(signature), ...flag(options, "searchTransactionHistory"), ...signal }),
    )
    const found = await Promise.all(asked)
    // No answer is newer than the oldest one.
    const [slot = 0n] = found.map(({ contextSlot }) => contextSlot).sort((a, b) => (a < b ? -1 : 1))
    const statuses = found.map(({ status }) => rpcStatus(status))
    return inContext(slot, statuses)
  },
  sendTransaction: async (relay, params, signal) => {
    const known = ["encoding", "maxRetries", "skipPreflight", "preflightCommitment", "minContextSlot"]
    const options = optionsOf(params[1], known)
    base64Only(options)
    if (options["maxRetries"] !== undefined && u64(options["maxRetries"], "maxRetries") !== 0n) {
      throw new NotCarried("maxRetries must be 0, because the relay sends once")
    }
    const { commitment: preflightCommitment, minContextSlot } = viewOf({
      ...options,
      commitment: options["preflightCommitment"],
    })
    const sent = { transaction: firstText(params), preflightCommitment, minContextSlot, ...signal }
    return (await relay.send({ ...sent, ...flag(options, "skipPreflight") })).signature
  },
}

/** The provider's own error, so that kit makes of it what it makes of any provider's. */
const rpcError = (error: unknown): Json | undefined =>
  isObject(error) && error["code"] === "upstream_rpc_error" && isObject(error["details"]) ? error["details"] : undefined

/**
 * The relay's response to one JSON-RPC request, as JSON-RPC.
 *
 * @param notCarried makes the library's error: this file is bundled separately
 */
export const carry = async (
  relay: Relay,
  { payload, signal }: { readonly payload: unknown; readonly signal?: AbortSignal },
  notCarried: (message: string) => SvcError,
): Promise<unknown> => {
  const { method, params, id } = isObject(payload) ? payload : {}
  const run = typeof method === "string" && Object.hasOwn(methods, method) ? methods[method] : undefined
  if (run === undefined) {
    const names = Object.keys(methods).join(", ")
    throw notCarried(`The relay has no method ${String(method)}. It has ${names}; ask an RPC provider for others`)
  }
  try {
    return { jsonrpc: "2.0", id, result: await run(relay, Array.isArray(params) ? params : [], { signal }) }
  } catch (error) {
    if (error instanceof NotCarried) throw notCarried(`${String(method)}: ${error.message}`)
    const refused = rpcError(error)
    if (refused === undefined) throw error
    return { jsonrpc: "2.0", id, error: refused }
  }
}
