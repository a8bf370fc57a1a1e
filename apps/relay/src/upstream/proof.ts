import type { ApiError } from "@svc/errors"
import { errors, submissionUnknown } from "../errors.ts"
import { saysNothingOfACopy } from "./error-text.ts"
import type { messages } from "./known-texts.ts"
import type { UpstreamResponse } from "./upstream.ts"
import { isShallow, u64Text } from "./exact-json.ts"

/** A response that has no result. */
export type UpstreamFailure = Exclude<UpstreamResponse, { kind: "result" }>

/** What one kind of response means. */
type Row = {
  /** Whether it proves that the provider accepted no transaction. If false, the response proves nothing. */
  readonly notSubmitted: boolean
  /** Whether the same call may succeed later, without any change by the caller or the operator. */
  readonly retryable: boolean
}

/** With the consequence for a read: whether the next provider is asked. */
type StatusRow = Row & { readonly askNext: boolean }

const rejected: Row = { notSubmitted: true, retryable: false }
const rejectedNow: Row = { notSubmitted: true, retryable: true }
const unproven: Row = { notSubmitted: false, retryable: true }

/** These statuses come from the servers in front of the provider, which didn't read the call: they count whatever the body says. */
const frontDoor: Readonly<Record<number, StatusRow>> = {
  401: { ...rejected, askNext: true }, // The front door doesn't accept the key.
  403: { ...rejected, askNext: true }, // The front door doesn't allow this caller or its plan.
  404: { ...rejected, askNext: true }, // There is no endpoint at this URL.
  405: { ...rejected, askNext: false }, // The endpoint doesn't accept POST, so it read no body.
  413: { ...rejected, askNext: false }, // The front door didn't read a body of this size.
  415: { ...rejected, askNext: false }, // The front door doesn't accept JSON, so it read no body.
  429: { ...rejectedNow, askNext: true }, // The front door limits the rate, so it passed nothing on.
}

/** All other statuses. They count only if the body isn't a JSON-RPC error of this call. */
const otherStatus = (status: number): StatusRow =>
  status === 402 || status === 408 || status >= 500
    ? { ...unproven, askNext: true } // The plan is used up, or the server failed at a point that it doesn't name.
    : { ...unproven, askNext: false } // Nothing says at which point the server decided on this status.

const statusRow = (status: number): StatusRow => frontDoor[status] ?? otherStatus(status)

/** Whether a status counts whatever the body says. */
export const decidesByStatus = (status: number): boolean => status in frontDoor

/**
 * JSON-RPC errors that reject a transaction. They prove it only if all their texts and members are known ones (known-texts.ts). In any
 * other text a provider may say that it accepted an earlier copy, and the line of a program's log may be the provider's own.
 */
const rejections: Readonly<Record<keyof typeof messages, Row>> = {
  [-32700]: rejected, // The request couldn't be parsed.
  [-32600]: rejected, // The request isn't valid, so no method ran.
  [-32601]: rejected, // The method doesn't exist, so none ran.
  [-32602]: rejected, // The method rejected its parameters before it used them.
  [-32002]: rejected, // The preflight failed; it comes before the node hands a transaction on.
  [-32003]: rejected, // A signature doesn't verify; no node accepts the transaction.
  [-32005]: rejectedNow, // The node is behind and accepts no transactions for now.
  [-32006]: rejected, // A precompiled signature doesn't verify; no node accepts the transaction.
  [-32013]: rejected, // A signature has the wrong length; no node accepts the transaction.
  [-32015]: rejected, // The node doesn't read transactions of this version.
  [-32016]: rejectedNow, // The node hasn't reached minContextSlot, which it checks first.
}
const codes: Readonly<Record<number, Row>> = {
  ...rejections,
  [-32004]: unproven, // The block isn't available yet; send doesn't document this code.
  [-32014]: unproven, // The block's status isn't available yet; send doesn't document this code.
  [-32603]: unproven, // The provider failed at a point that it doesn't name.
  [-32429]: unproven, // A rate limit, but inside the provider: part of it may have accepted the transaction.
  429: unproven, // A rate limit, but inside the provider: part of it may have accepted the transaction.
}
/** Other codes don't mean the same at all providers. */
const otherCode: Row = { notSubmitted: false, retryable: false }
/** Most providers have a code of their own for a rate limit, such as -32007, -32029 or -32000. Their texts resemble each other. */
const isRateLimit = /rate.?limit|too many requests|per second/i

/** What a response without a result proves. Only this table decides it, for sends and for reads. */
export const proofOf = (failure: UpstreamFailure): StatusRow => {
  switch (failure.kind) {
    case "http-error":
      return statusRow(failure.status)
    case "rpc-error": {
      const known = codes[failure.code] ?? otherCode
      const { askNext } = statusRow(failure.status)
      // A text that isn't known may be about an earlier copy of the transaction.
      const notSubmitted = known.notSubmitted && saysNothingOfACopy(failure.code, failure.body)
      return { notSubmitted, retryable: known.retryable || isRateLimit.test(failure.message), askNext }
    }
    case "transport-error":
    case "timeout":
      // If no byte of the request left this process, the provider has nothing.
      return { ...(failure.started ? unproven : rejectedNow), askNext: true }
    case "malformed":
      break
  }
  return { ...unproven, askNext: true }
}

type RpcFailure = Extract<UpstreamFailure, { kind: "rpc-error" }>

/** Removes from a provider's text whatever could show its address or key. */
export type Redact = (text: string) => string

const maxMessageLength = 256
/** In seconds: the time over which the relay's own limits count. */
const longestWait = 60

const partsOf = (url: string): string[] => {
  const { host, hostname, username, password, pathname, searchParams } = new URL(url)
  const long = [...pathname.split("/"), ...searchParams.values()].filter((part) => part.length >= 8)
  return [host, hostname, username, password, ...long]
}

export const createRedact = (...urls: readonly string[]): Redact => {
  const secrets = urls
    .flatMap(partsOf)
    .flatMap((secret) => [secret, safeDecode(secret)])
    .filter((secret) => secret !== "")
    .sort((a, b) => b.length - a.length)
  // A match starts only at the start of a word: starting at each of its letters would take minutes for a long word in a log.
  const hideUrls = (text: string) => text.replace(/\b\w+:\/\/\S+/g, "[redacted]")
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), hideUrls(text))
}

const safeDecode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** What the caller may see of a provider's error: its code, a short message, and the result of a failed preflight. */
const rpcDetails = ({ code, message, data }: RpcFailure, redact: Redact): Record<string, unknown> => {
  const shown: Record<string, unknown> = {}
  if (typeof data === "object" && data !== null) {
    if ("err" in data && isShallow(data.err)) shown["err"] = data.err
    if ("logs" in data && isTexts(data.logs)) shown["logs"] = data.logs.map(redact)
    const units = "unitsConsumed" in data ? u64Text(data.unitsConsumed) : undefined
    if (units !== undefined) shown["unitsConsumed"] = units
  }
  return {
    code,
    message: Array.from(redact(message)).slice(0, maxMessageLength).join(""),
    ...(Object.keys(shown).length > 0 && { data: shown }),
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((line) => typeof line === "string")

/**
 * The error for a failure that leaves nothing open: of a read, or of a send that is proven not to be submitted.
 * `retryAfterSeconds`: when it may be repeated, if that is known; `hint`: the next step after an error of the provider's.
 */
const upstreamError = (
  failure: UpstreamFailure,
  redact: Redact,
  { retryAfterSeconds, hint }: { readonly retryAfterSeconds?: number | undefined; readonly hint?: string },
): ApiError => {
  const { retryable } = proofOf(failure)
  if (failure.kind === "rpc-error") {
    return errors.fail("upstream_rpc_error", { retryable, hint, details: rpcDetails(failure, redact) })
  }
  const message = failure.kind === "http-error" ? `The provider returned HTTP status ${failure.status}.` : undefined
  return errors.fail("upstream_unavailable", { message, retryable, retryAfterSeconds })
}

/** The error of a read. A provider that limits the rate says when the limit ends. */
export const readError = (failure: UpstreamFailure, redact: Redact): ApiError => {
  if (failure.kind === "timeout") return errors.fail("upstream_timeout")
  const asked = failure.kind === "http-error" && failure.status === 429 ? failure.retryAfterSeconds : undefined
  return upstreamError(failure, redact, {
    retryAfterSeconds: asked === undefined ? undefined : Math.min(Math.max(asked, 1), longestWait),
  })
}

/** The outcome of a send. `unknown` whenever nothing proves one of the others. */
export type SendOutcome =
  | { readonly state: "accepted" }
  | { readonly state: "not_submitted"; readonly error: ApiError }
  | { readonly state: "unknown"; readonly error: ApiError }

/** What is sent. */
export type Sent = {
  readonly signature: string
  /** Whether landing replaces its own blockhash, which is then a durable nonce. It is asked only if the answer matters. */
  readonly hasNonce: () => boolean
}

/** Whether the transaction's blockhash is, or may be, the reason. */
const isAboutBlockhash = (response: UpstreamFailure): boolean => {
  if (response.kind !== "rpc-error") return false
  const text = JSON.stringify(response.body)
  return /blockhash/i.test(text) || (response.code === -32002 && !/simulation failed: |"err":["{]/.test(text))
}

// What was sent before may land all the same.
const rejectedHint =
  "`details` has the provider's code and message. If these bytes were sent before, look up their signature, and sign nothing else until their expiry is proven."

/** Decides what a provider's response to sendTransaction proves about this transaction. */
export const judgeSend = (response: UpstreamResponse, { signature, hasNonce }: Sent, redact: Redact): SendOutcome => {
  if (response.kind === "result") {
    return response.result === signature ? { state: "accepted" } : { state: "unknown", error: submissionUnknown() }
  }
  const mayHaveLanded = () => isAboutBlockhash(response) && hasNonce()
  if (proofOf(response).notSubmitted && !mayHaveLanded()) {
    return { state: "not_submitted", error: upstreamError(response, redact, { hint: rejectedHint }) }
  }
  const details = response.kind === "rpc-error" ? rpcDetails(response, redact) : undefined
  return { state: "unknown", error: submissionUnknown({ timedOut: response.kind === "timeout", details }) }
}
