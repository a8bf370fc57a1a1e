import { defineErrors } from "@svc/errors"
import { z } from "@svc/openapi"

export const errors = defineErrors({
  "invalid-json": {
    status: 400,
    message: "The body is not valid JSON.",
    hint: "Send UTF-8 JSON that names no key twice.",
  },
  "invalid-request": {
    status: 400,
    message: "The request is not valid.",
    hint: "Correct what details.path names; /openapi.json has the shape.",
  },
  "invalid-ast": {
    status: 400,
    message: "The AST is valid, but what the service would make of it is too large or too much work.",
    hint: "Make the AST smaller at details.path: fewer fields or types, or shorter names.",
  },
  "invalid-display-name": {
    status: 400,
    message: "display_name must have 1 to 64 visible characters, without control or direction marks.",
    hint: "Choose another name, or leave it out.",
  },
  "invalid-key-name": {
    status: 400,
    message: "name must have 1 to 64 visible characters.",
    hint: "Choose another name, or leave it out.",
  },
  "invalid-key-id": {
    status: 400,
    message: "A key id is a number.",
    hint: "Take the id from the key list, or key_id from the sign-up's answer.",
  },
  "missing-origin-allowlist": {
    status: 400,
    message: "origin_allowlist is required: an array with one origin.",
    hint: 'Send "origin_allowlist": ["https://your.page"].',
  },
  "invalid-origin": {
    status: 400,
    message: "An origin is a scheme, a host and maybe a port, without path, query, user or wildcard.",
    hint: "Send what the page has in location.origin.",
  },
  "too-many-keys": {
    status: 400,
    message: "The account has as many live keys as it may have.",
    hint: "Revoke one that is not used any more (last_used_at in the key list), or rotate one in place of minting.",
  },
  "invalid-scope": {
    status: 400,
    message: "The scopes are read, transaction:inspect and transaction:send.",
    hint: "Send these words alone, or leave scope out for read.",
  },
  "invalid-websocket-url": {
    status: 400,
    message: "websocket_url must be a ws:// or wss:// URL.",
    hint: "Take websocket_url from GET /api/registry.",
  },
  "missing-credentials": {
    status: 401,
    message: "Send a key: Authorization: Bearer <API_KEY>.",
    hint: "POST /api/agents/signup gives a key.",
  },
  "invalid-authorization-format": {
    status: 401,
    message: "The Authorization header must be Bearer <API_KEY>.",
    hint: "Send the word Bearer, a space and one key.",
  },
  "invalid-api-key": {
    status: 401,
    message: "The key is not known here.",
    hint: "It is mistyped, revoked, or another service's: use another key of the account, or sign up anew.",
  },
  "disabled-api-key": {
    status: 401,
    message: "The key is disabled.",
    hint: "Use another key of the account, or ask the operator.",
  },
  "expired-api-key": {
    status: 401,
    message: "The key has expired.",
    hint: "Use its successor if it was rotated, or mint one with another key of the account.",
  },
  "user-not-found": {
    status: 401,
    message: "The key's account does not exist.",
    hint: "Give the request id to the operator.",
  },
  "agent-profile-missing": {
    status: 401,
    message: "The key's agent has no profile.",
    hint: "Give the request id to the operator.",
  },
  "agent-account-disabled": { status: 403, message: "The agent's account is disabled.", hint: "Ask the operator." },
  "agent-account-forbidden": {
    status: 403,
    message: "Not available to agent accounts. Do not retry.",
    hint: "A person or the operator has to do this.",
  },
  "agent-account-required": {
    status: 403,
    message: "Only agent accounts have this.",
    hint: "Use an agent's key; a person's keys are at /api/auth/keys.",
  },
  "key-replaced": {
    status: 403,
    message: "A replaced key manages no keys.",
    hint: "Use its successor; if that answer was lost, rotate this key again.",
  },
  "origin-required": {
    status: 403,
    message: "A publishable key works only with an Origin header, as browsers send it.",
    hint: "Use it in a page of its origin; programs use a secret key.",
  },
  "origin-not-allowed": {
    status: 403,
    message: "The key is not for pages of this origin.",
    hint: "Mint a publishable key for this origin.",
  },
  "origin-allowlist-empty": {
    status: 403,
    message: "origin_allowlist must hold one origin, and holds none.",
    hint: "Send one origin.",
  },
  "origin-allowlist-too-many": {
    status: 403,
    message: "origin_allowlist must hold one origin, and holds more.",
    hint: "Mint one key for each origin.",
  },
  "origin-invalid-scheme": {
    status: 403,
    message: "An origin starts with http:// or https://.",
    hint: "Write the scheme in front; wildcards are not allowed.",
  },
  "secret-key-required": {
    status: 403,
    message: "A publishable key can't do this: use a secret key.",
    hint: "Call this from a program that keeps a secret key, never from a page.",
  },
  "scope-not-allowed": {
    status: 403,
    message: "The stack or the key does not allow this scope.",
    hint: "Ask for read alone, or choose a stack that has a relay.",
  },
  "not-found": {
    status: 404,
    message: "Nothing is at this path: see /openapi.json.",
    hint: "GET /openapi.json lists the paths.",
  },
  "stack-not-found": { status: 404, message: "There is no such stack.", hint: "GET /api/registry lists the stacks." },
  "version-not-found": {
    status: 404,
    message: "There is no such version.",
    hint: "GET /api/registry/<name>/versions, or /api/specs/<id>/versions, lists them.",
  },
  "spec-not-found": {
    status: 404,
    message: "There is no such spec.",
    hint: "GET /api/specs lists those that you see.",
  },
  "build-not-found": {
    status: 404,
    message: "There is no such build.",
    hint: "GET /api/builds lists those that you see.",
  },
  "deployment-not-found": {
    status: 404,
    message: "There is no such deployment.",
    hint: "GET /api/deployments lists those that you see.",
  },
  "run-not-found": {
    status: 404,
    message: "There is no such run.",
    hint: "GET /api/automation/runs lists those that you see.",
  },
  "key-not-found": {
    status: 404,
    message: "There is no such key.",
    hint: "The key list has the ids; revoked keys are not in it.",
  },
  "method-not-allowed": {
    status: 405,
    message: "The path has no such method: see the Allow header.",
    hint: "Use a method of the Allow header.",
  },
  "spec-name-taken": {
    status: 409,
    message: "You have a spec of this name.",
    hint: "Change that one, or take another name.",
  },
  "spec-deployed": {
    status: 409,
    message: "The spec is deployed.",
    hint: "Stop its deployments first: POST /api/deployments/<id>/stop.",
  },
  "stack-name-taken": {
    status: 409,
    message: "Another stack has this name, or had it until lately.",
    hint: "Give the spec another name: PUT /api/specs/<id>. A freed name rests for 30 days.",
  },
  "websocket-url-taken": {
    status: 409,
    message: "Another stack has this websocket URL.",
    hint: "Give the spec another websocket_url: PUT /api/specs/<id>.",
  },
  "build-state": {
    status: 409,
    message: "The build is over.",
    hint: "GET /api/builds/<id> says how it ended.",
  },
  "deployment-state": {
    status: 409,
    message: "The deployment's state does not allow it.",
    hint: "GET /api/deployments/<id> says where it stands.",
  },
  "deployment-active": {
    status: 409,
    message: "The deployment is not stopped.",
    hint: "Stop it first: POST /api/deployments/<id>/stop.",
  },
  "run-state": {
    status: 409,
    message: "The run's state does not allow it.",
    hint: "GET /api/automation/runs/<id> says where it stands.",
  },
  "limit-reached": {
    status: 409,
    message: "A limit of this service is reached.",
    hint: "Delete what is not needed any more, or ask the operator for more.",
  },
  "precondition-failed": {
    status: 412,
    message: "The spec was changed since you read it.",
    hint: "Read it again, and send its new ETag in If-Match.",
  },
  "idempotency-key-reused": {
    status: 422,
    message: "The Idempotency-Key came before, with another body.",
    hint: "Use a new key for a new request.",
  },
  "key-not-active": {
    status: 409,
    message: "Only an active key can be rotated.",
    hint: "Rotate an active key, or mint a new one.",
  },
  "key-already-rotated": {
    status: 409,
    message: "The key has a successor that was used or ended.",
    hint: "Use or rotate the successor: replaced_by in the key list.",
  },
  "payload-too-large": {
    status: 413,
    message: "The body is too large: 64 KiB, or 2 MiB where an AST is sent.",
    hint: "Send less.",
  },
  "unsupported-media-type": {
    status: 415,
    message: "The body must be JSON with Content-Type: application/json.",
    hint: "Set Content-Type: application/json. Bodies that may hold an AST may be gzip, others are plain.",
  },
  "rate-limit-exceeded": {
    status: 429,
    message: "Too many requests: wait before the next one.",
    hint: "Wait retry_after_seconds.",
    retryable: true,
  },
  "internal-error": {
    status: 500,
    message: "The service failed. The request id names the failure in its log.",
    hint: "Give the request id to the operator.",
  },
  "not-implemented": { status: 501, message: "Not offered yet." },
  "outcome-unknown": {
    status: 503,
    message: "The database fell silent while this was stored: it may have been done or not.",
    hint: "Look before asking again: list the account's keys and revoke one that you were not given, or, after a sign-up, sign up anew.",
    retryable: false,
  },
  "service-unavailable": {
    status: 503,
    message: "The service can't answer now: try again.",
    hint: "Nothing was done: send the same request again after Retry-After.",
    retryable: true,
  },
})

export type ErrorCode = keyof typeof errors.rows

const anyError = z
  .object({
    error: z.string(),
    code: z.string(),
    request_id: z.string(),
    retryable: z.boolean(),
    retry_after_seconds: z.int().positive().optional(),
    details: z
      .object({
        path: z.string(),
        reason: z.string(),
        faults: z.array(z.object({ path: z.string(), reason: z.string() })).optional(),
      })
      .optional(),
    hint: z.string().optional(),
  })
  .openapi("Error")

/** The body of every error, for the codes of one status. */
export const errorEnvelope = (codes: readonly [ErrorCode, ...ErrorCode[]]) => anyError.extend({ code: z.enum(codes) })
