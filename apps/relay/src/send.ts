import type { ApiError } from "@svc/errors"
import { errors, submissionUnknown } from "./errors.ts"
import { isShallow } from "./upstream/exact-json.ts"
import type { UpstreamAnswer } from "./upstream/upstream.ts"
import { type Redact, type RpcFailure, rpcDetails, unavailable, type UpstreamFailure } from "./upstream/errors.ts"

/** What became of a transaction. `unknown` whenever nothing proves one of the others. */
export type SendOutcome =
  | { readonly state: "accepted" }
  | { readonly state: "rejected"; readonly error: ApiError }
  | { readonly state: "unknown"; readonly error: ApiError }

/** Statuses that come from the provider's front door: the call was turned away unread. */
const provingStatuses = new Set([401, 403, 404, 405, 413, 415, 429])

/** JSON-RPC errors raised before a node hands a transaction on: parsing, parameters, preflight, signatures, health. */
const provingCodes = new Set([-32700, -32600, -32601, -32602, -32002, -32003, -32005, -32006, -32013, -32015, -32016])
const preflightFailure = -32002
const retryable = new Set([-32005, -32016])

// A preflight that finds the transaction on the chain already: some earlier copy of it was submitted.
const mayBeAlreadyProcessed = ({ message, data }: RpcFailure): boolean => {
  const err = typeof data === "object" && data !== null && "err" in data ? data.err : null
  if (!isShallow(err)) return true
  return JSON.stringify(err).includes("AlreadyProcessed") || /already\s*(been\s*)?processed/i.test(message)
}

const provesNotSubmitted = (failure: UpstreamFailure): boolean => {
  switch (failure.kind) {
    case "rpc-error":
      return provingCodes.has(failure.code) && !(failure.code === preflightFailure && mayBeAlreadyProcessed(failure))
    case "http-error":
      return provingStatuses.has(failure.status)
    case "transport-error":
    case "timeout":
      return !failure.started
    case "malformed":
      break
  }
  return false
}

/** Judges a provider's answer to sendTransaction by what it proves about the transaction with this signature. */
export const judgeSend = (answer: UpstreamAnswer, signature: string, redact: Redact): SendOutcome => {
  if (answer.kind === "result") {
    return answer.result === signature
      ? { state: "accepted" }
      : { state: "unknown", error: submissionUnknown(signature) }
  }
  const details = answer.kind === "rpc-error" ? rpcDetails(answer, redact) : undefined
  if (!provesNotSubmitted(answer)) {
    return { state: "unknown", error: submissionUnknown(signature, { timedOut: answer.kind === "timeout", details }) }
  }
  if (answer.kind !== "rpc-error") return { state: "rejected", error: unavailable(answer) }
  const error = errors.fail("upstream_rpc_error", { retryable: retryable.has(answer.code), details })
  return { state: "rejected", error }
}
