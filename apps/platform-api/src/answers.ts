import type { ApiError } from "@svc/errors"
import type { BodyFault } from "@svc/http"
import { errors } from "./errors.ts"

/**
 * Headers of every response, errors included. Any page may read them: the key's own origin check decides what a browser
 * may do.
 */
export const everyAnswer = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, X-Error-Code, X-Auth-Ignored, Link, ETag, Location, Deprecation, Idempotency-Replayed, WWW-Authenticate",
}

// RFC 6750 section 3: only a caller that sent a key gets the error in this header.
const withoutKey = new Set<string>(["missing-credentials", "invalid-authorization-format"])

/** Turns an error into a response. No other code does this. */
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
    // Every 400 says where and why, even when no field is at fault.
    details: error.details ?? (error.status === 400 ? { path: "", reason: error.message } : undefined),
    hint: error.hint,
  }
  return new Response(JSON.stringify(body), { status: error.status, headers })
}

/** The response to bytes that can't be parsed as a request. */
export const unreadableAnswer = (requestId: string, reason: string): Response =>
  errorAnswer(errors.fail("invalid-request", { details: { path: "", reason } }), requestId)

/** The error for a body that can't be read. */
export const bodyError = (fault: BodyFault): ApiError => {
  if (fault.kind === "too-large") return errors.fail("payload-too-large")
  const code = fault.kind === "unsupported-media-type" || fault.kind === "invalid-json" ? fault.kind : "invalid-request"
  const path = "path" in fault ? fault.path : ""
  const reason = "reason" in fault ? fault.reason : "the body didn't arrive"
  return errors.fail(code, { details: { path, reason } })
}
