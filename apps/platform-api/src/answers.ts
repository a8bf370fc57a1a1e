import type { ApiError } from "@svc/errors"
import type { BodyFault } from "@svc/http"
import { errors } from "./errors.ts"

/**
 * Of every answer: every page may ask and read it, errors too, since what a browser may do is up to the key's own origin
 * check. Only sign-up is closed, or any page could make accounts with its visitors' addresses.
 */
export const everyAnswer = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, X-Error-Code, X-Auth-Ignored, Link, ETag, Location, Deprecation, Idempotency-Replayed, WWW-Authenticate",
}

// RFC 6750 section 3: the error is told only to a caller that sent a key.
const withoutKey = new Set<string>(["missing-credentials", "invalid-authorization-format"])

/** The one place where an error becomes an answer. Headers that were set beforehand stay. */
export const errorAnswer = (error: ApiError, requestId: string): Response => {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-error-code": error.code,
    ...error.headers,
  }
  if (error.status === 401) {
    headers["www-authenticate"] = withoutKey.has(error.code) ? "Bearer" : 'Bearer error="invalid_token"'
  }
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(error.retryAfterSeconds)
  const body = {
    error: error.message,
    code: error.code,
    request_id: requestId,
    retryable: error.retryable ?? false,
    retry_after_seconds: error.retryAfterSeconds,
    // Every 400 says where and why, if only that it was no field.
    details: error.details ?? (error.status === 400 ? { path: "", reason: error.message } : undefined),
    hint: error.hint,
  }
  return new Response(JSON.stringify(body), { status: error.status, headers })
}

/** Answers what no request can be made of. */
export const unreadableAnswer = (requestId: string, reason: string): Response =>
  errorAnswer(errors.fail("invalid-request", { details: { path: "", reason } }), requestId)

/** What is told of a body that can't be read. */
export const bodyError = (fault: BodyFault): ApiError => {
  switch (fault.kind) {
    case "unsupported-media-type":
      return errors.fail("unsupported-media-type", { details: { path: "", reason: fault.reason } })
    case "too-large":
      return errors.fail("payload-too-large")
    case "invalid-json":
      return errors.fail("invalid-json", { details: { path: "", reason: fault.reason } })
    case "invalid":
      return errors.fail("invalid-request", { details: { path: fault.path, reason: fault.reason } })
    case "timeout":
    case "aborted":
      return errors.fail("invalid-request", { details: { path: "", reason: "the body did not arrive" } })
    default:
      return fault satisfies never
  }
}
