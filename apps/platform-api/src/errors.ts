import { type ApiError, defineErrors } from "@svc/errors"
import { z } from "@svc/openapi"

export const errors = defineErrors({
  "invalid-json": { status: 400, message: "The body is not valid JSON." },
  "invalid-request": { status: 400, message: "The request is not valid." },
  "invalid-display-name": {
    status: 400,
    message: "display_name must have 1 to 64 visible characters, without control or direction marks.",
  },
  "invalid-key-name": { status: 400, message: "name must have 1 to 64 visible characters." },
  "invalid-key-id": { status: 400, message: "A key id is a number." },
  "missing-origin-allowlist": { status: 400, message: "origin_allowlist is required: an array with one origin." },
  "invalid-origin": {
    status: 400,
    message: "An origin is a scheme, a host and maybe a port, without path, query, user or wildcard.",
  },
  "too-many-keys": { status: 400, message: "The account has 25 live keys: revoke one first." },
  "invalid-scope": { status: 400, message: "The scopes are read, transaction:inspect and transaction:send." },
  "invalid-websocket-url": { status: 400, message: "websocket_url must be a ws:// or wss:// URL." },
  "missing-credentials": { status: 401, message: "Send a key: Authorization: Bearer <API_KEY>." },
  "invalid-authorization-format": { status: 401, message: "The Authorization header must be Bearer <API_KEY>." },
  "invalid-api-key": { status: 401, message: "The key is not known here." },
  "disabled-api-key": { status: 401, message: "The key is disabled." },
  "expired-api-key": { status: 401, message: "The key has expired." },
  "user-not-found": { status: 401, message: "The key's account does not exist." },
  "agent-profile-missing": { status: 401, message: "The key's agent has no profile." },
  "agent-account-disabled": { status: 403, message: "The agent's account is disabled." },
  "agent-account-forbidden": { status: 403, message: "Not available to agent accounts. Do not retry." },
  "agent-account-required": { status: 403, message: "Only agent accounts have this." },
  "key-replaced": { status: 403, message: "A replaced key manages no keys." },
  "origin-required": {
    status: 403,
    message: "A publishable key works only with an Origin header, as browsers send it.",
  },
  "origin-not-allowed": { status: 403, message: "The key is not for pages of this origin." },
  "origin-allowlist-empty": { status: 403, message: "origin_allowlist must hold one origin, and holds none." },
  "origin-allowlist-too-many": { status: 403, message: "origin_allowlist must hold one origin, and holds more." },
  "origin-invalid-scheme": { status: 403, message: "An origin starts with http:// or https://." },
  "secret-key-required": { status: 403, message: "A publishable key can't do this: use a secret key." },
  "scope-not-allowed": { status: 403, message: "The stack or the key does not allow this scope." },
  "not-found": { status: 404, message: "Nothing is at this path: see /openapi.json." },
  "stack-not-found": { status: 404, message: "There is no such stack." },
  "spec-not-found": { status: 404, message: "There is no such spec." },
  "build-not-found": { status: 404, message: "There is no such build." },
  "deployment-not-found": { status: 404, message: "There is no such deployment." },
  "run-not-found": { status: 404, message: "There is no such run." },
  "key-not-found": { status: 404, message: "There is no such key." },
  "method-not-allowed": { status: 405, message: "The path has no such method: see the Allow header." },
  "key-not-active": { status: 409, message: "Only an active key can be rotated." },
  "key-already-rotated": { status: 409, message: "The key has a successor that is in use." },
  "payload-too-large": { status: 413, message: "The body is larger than 64 KiB." },
  "unsupported-media-type": { status: 415, message: "The body must be JSON with Content-Type: application/json." },
  "rate-limit-exceeded": { status: 429, message: "Too many requests: wait before the next one.", retryable: true },
  "internal-error": { status: 500, message: "The service failed. The request id names the failure in its log." },
  "not-implemented": { status: 501, message: "Not offered yet." },
  "outcome-unknown": {
    status: 503,
    message: "The database fell silent while this was stored: it may have been done or not.",
    hint: "Look before asking again: list the account's keys and revoke one that you were not given, or, after a sign-up, sign up anew.",
    retryable: false,
  },
  "service-unavailable": { status: 503, message: "The service can't answer now: try again.", retryable: true },
})

export type ErrorCode = keyof typeof errors.rows

const anyError = z
  .object({
    error: z.string(),
    code: z.string(),
    request_id: z.string(),
    retryable: z.boolean(),
    retry_after_seconds: z.int().positive().optional(),
    details: z.object({ path: z.string(), reason: z.string() }).optional(),
    hint: z.string().optional(),
  })
  .openapi("Error")

/** The body of every error, for the codes of one status. */
export const errorEnvelope = (codes: readonly [ErrorCode, ...ErrorCode[]]) => anyError.extend({ code: z.enum(codes) })

/** The one place where an error becomes an answer. Headers that were set beforehand stay. */
export const renderError = (error: ApiError, requestId: string): Response => {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-error-code": error.code,
    ...error.headers,
  }
  if (error.status === 401) headers["www-authenticate"] = "Bearer"
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(error.retryAfterSeconds)
  const body = {
    error: error.message,
    code: error.code,
    request_id: requestId,
    retryable: error.retryable ?? false,
    retry_after_seconds: error.retryAfterSeconds,
    details: error.details,
    hint: error.hint,
  }
  return new Response(JSON.stringify(body), { status: error.status, headers })
}
