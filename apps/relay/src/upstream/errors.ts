import type { ApiError } from "@svc/errors"
import { errors } from "../errors.ts"
import { isShallow, u64Text } from "./exact-json.ts"
import { proofOf, type UpstreamFailure } from "./proof.ts"

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

/** The `details` of an error: those of the provider's JSON-RPC error, if it is one. */
export const detailsOf = (failure: UpstreamFailure, redact: Redact): Record<string, unknown> | undefined =>
  failure.kind === "rpc-error" ? rpcDetails(failure, redact) : undefined

/**
 * The error for a failure that leaves nothing open: of a read, or of a send that is proven not to be submitted.
 * @param retryAfterSeconds when it may be repeated, if that is known
 */
export const upstreamError = (failure: UpstreamFailure, redact: Redact, retryAfterSeconds?: number): ApiError => {
  const { retryable } = proofOf(failure)
  if (failure.kind === "rpc-error") {
    return errors.fail("upstream_rpc_error", { retryable, details: detailsOf(failure, redact) })
  }
  const message = failure.kind === "http-error" ? `The provider returned HTTP status ${failure.status}.` : undefined
  return errors.fail("upstream_unavailable", { message, retryable, retryAfterSeconds })
}

/** The error of a read. A provider that limits the rate says when the limit ends. */
export const readError = (failure: UpstreamFailure, redact: Redact): ApiError => {
  if (failure.kind === "timeout") return errors.fail("upstream_timeout")
  const asked = failure.kind === "http-error" && failure.status === 429 ? failure.retryAfterSeconds : undefined
  return upstreamError(failure, redact, asked === undefined ? undefined : Math.min(Math.max(asked, 1), longestWait))
}
