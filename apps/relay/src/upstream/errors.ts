import type { ApiError } from "@svc/errors"
import { errors } from "../errors.ts"
import { isShallow, u64Text } from "./exact-json.ts"
import type { UpstreamAnswer } from "./upstream.ts"

/** An answer that gave no result. */
export type UpstreamFailure = Exclude<UpstreamAnswer, { kind: "result" }>
export type RpcFailure = Extract<UpstreamAnswer, { kind: "rpc-error" }>

/** Takes out of a provider's text what could tell where or with which key it is reached. */
export type Redact = (text: string) => string

/** Statuses that a provider gives before it looks at the call: the operator must act, a retry changes nothing. */
const refusals = new Set([401, 403, 404, 405, 413, 415])
const maxMessageLength = 256
const retryable = new Set([-32004, -32005, -32014, -32016, -32603])

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
  // From a word's start only: tried from each of its letters, a long word in a program's log would hold everybody up.
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

/** What the caller may see of a provider's error: its code, a short message, and of a preflight what went wrong. */
export const rpcDetails = ({ code, message, data }: RpcFailure, redact: Redact): Record<string, unknown> => {
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

export const unavailable = (failure: UpstreamFailure): ApiError =>
  failure.kind === "http-error"
    ? errors.fail("upstream_unavailable", {
        message: `The provider answered with HTTP status ${failure.status}.`,
        retryable: !refusals.has(failure.status),
      })
    : errors.fail("upstream_unavailable")

/** The error of an inspection: nothing was at stake, so only what a retry could change matters. */
export const inspectFailure = (failure: UpstreamFailure, redact: Redact): ApiError => {
  if (failure.kind === "timeout") return errors.fail("upstream_timeout")
  if (failure.kind !== "rpc-error") return unavailable(failure)
  return errors.fail("upstream_rpc_error", {
    retryable: retryable.has(failure.code),
    details: rpcDetails(failure, redact),
  })
}
