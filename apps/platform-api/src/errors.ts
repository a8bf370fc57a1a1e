import { type ApiError, defineErrors, withStatus } from "@svc/errors"
import { z } from "@svc/openapi"
import { sessionScopes } from "@svc/session-token"

/** Each code with its message and the next step, and whether a retry may help, by status. */
export const errors = defineErrors({
  ...withStatus(400, {
    "invalid-json": ["The body isn't valid JSON.", "Send UTF-8 JSON in which no object repeats a key."],
    "invalid-request": [
      "The request isn't valid.",
      "Correct the field that details.path names. /openapi.json describes each request.",
    ],
    "invalid-ast": [
      "The AST is valid, but what the service derives from it is too large or takes too long.",
      "Make the AST smaller at details.path: use fewer fields or types, or shorter names.",
    ],
    "invalid-display-name": [
      "display_name must have 1 to 64 visible characters, without control or direction marks, and no API key.",
      "Choose another name, or omit display_name.",
    ],
    "invalid-key-name": ["name must have 1 to 64 visible characters.", "Choose another name, or omit name."],
    "invalid-key-id": [
      "A key id must be a number.",
      "Use the id from the key list, or key_id from the sign-up response.",
    ],
    "missing-origin-allowlist": [
      "origin_allowlist is required: an array with one origin.",
      'Send "origin_allowlist": ["https://app.example.com"].',
    ],
    "invalid-origin": [
      "An origin has a scheme, a host and optionally a port, but no path, query, user or wildcard.",
      "Send the value of location.origin in your page.",
    ],
    "too-many-keys": [
      "The account has the maximum number of live keys.",
      "Revoke a key that you no longer use (see last_used_at in the key list), or rotate a key instead of minting one.",
    ],
    "invalid-scope": [
      `The scopes are ${sessionScopes.join(", ")}.`,
      "Send only these words, or omit scope to get read.",
    ],
    "invalid-websocket-url": [
      "websocket_url must be a ws:// or wss:// URL.",
      "Use a websocket_url from GET /api/registry.",
    ],
  }),
  ...withStatus(401, {
    "missing-credentials": [
      "An API key is required: Authorization: Bearer <API_KEY>.",
      "Get a key with POST /api/agents/signup.",
    ],
    "invalid-authorization-format": [
      "The Authorization header must be Bearer <API_KEY>.",
      "Send the word Bearer, a space and one key.",
    ],
    "invalid-api-key": [
      "The API key is unknown.",
      "It is mistyped, revoked or from another service. Use another key of the account. If none is left, an agent signs up again and a person asks the operator.",
    ],
    "disabled-api-key": [
      "The API key is disabled.",
      "Use another key of the account: it can enable this one, unless the operator disabled it.",
    ],
    "expired-api-key": [
      "The API key has expired.",
      "If it was rotated, use its successor. Otherwise mint a key with another key of the account.",
    ],
    "user-not-found": ["The account of this API key doesn't exist.", "Send the request id to the operator."],
    "agent-profile-missing": ["The agent of this API key has no profile.", "Send the request id to the operator."],
  }),
  ...withStatus(403, {
    "agent-account-disabled": ["The agent account is disabled.", "Ask the operator."],
    "agent-account-forbidden": [
      "Agent accounts can't do this. Don't retry.",
      "Ask a person with an account, or the operator, to do this.",
    ],
    "agent-account-required": [
      "Only agent accounts can do this.",
      "Use an agent's key. A person's keys are at /api/auth/keys.",
    ],
    "key-disabled-by-operator": ["The operator disabled this key, so its owner can't enable it.", "Ask the operator."],
    "key-replaced": ["A replaced key can't manage keys.", "Use its successor. If you lost it, rotate this key again."],
    "origin-required": [
      "A publishable key requires an Origin header, which browsers send.",
      "Use this key in a page of its origin. Use a secret key in programs.",
    ],
    "origin-not-allowed": ["The key isn't allowed for this origin.", "Mint a publishable key for this origin."],
    "origin-allowlist-empty": ["origin_allowlist must hold exactly one origin, but is empty.", "Send one origin."],
    "origin-allowlist-too-many": [
      "origin_allowlist must hold exactly one origin, but holds more.",
      "Mint one key for each origin.",
    ],
    "origin-invalid-scheme": [
      "An origin must start with http:// or https://.",
      "Add the scheme. Wildcards aren't allowed.",
    ],
    "secret-key-required": [
      "A publishable key can't do this. Use a secret key.",
      "Call this from a program that keeps a secret key, never from a page.",
    ],
    "scope-not-allowed": [
      "The stack or the key doesn't allow this scope.",
      "Request fewer scopes, or choose a stack whose relay is true. The operator decides whether pages may send.",
    ],
  }),
  ...withStatus(404, {
    "not-found": ["This path doesn't exist. See /openapi.json.", "GET /openapi.json lists the paths."],
    "stack-not-found": ["The stack wasn't found.", "GET /api/registry lists the stacks."],
    "version-not-found": [
      "The version wasn't found.",
      "List the versions: GET /api/registry/<name>/versions or GET /api/specs/<id>/versions.",
    ],
    "spec-not-found": ["The spec wasn't found.", "GET /api/specs lists the specs that you can read."],
    "build-not-found": ["The build wasn't found.", "GET /api/builds lists the builds that you can read."],
    "deployment-not-found": [
      "The deployment wasn't found.",
      "GET /api/deployments lists the deployments that you can read.",
    ],
    "run-not-found": ["The run wasn't found.", "GET /api/automation/runs lists the runs that you can read."],
    "key-not-found": ["The key wasn't found.", "The key list shows the ids. It leaves out revoked keys."],
  }),
  ...withStatus(405, {
    "method-not-allowed": [
      "The path doesn't support this method. See the Allow header.",
      "Use a method from the Allow header.",
    ],
  }),
  ...withStatus(409, {
    "spec-name-taken": ["You already have a spec with this name.", "Change that spec, or choose another name."],
    "spec-deployed": ["The spec is deployed.", "Stop its deployments first: POST /api/deployments/<id>/stop."],
    "stack-name-taken": [
      "Another stack has this name, or had it recently.",
      "Rename the spec: PUT /api/specs/<id>. Deleted names stay reserved for 30 days.",
    ],
    "websocket-url-taken": [
      "Another stack has this websocket_url, or it belongs to another name by the operator's template.",
      "Change the spec's websocket_url: PUT /api/specs/<id>.",
    ],
    "build-state": ["The build has ended.", "GET /api/builds/<id> shows how it ended."],
    "deployment-state": ["The deployment's status doesn't allow this.", "GET /api/deployments/<id> shows its status."],
    "deployment-active": ["The deployment isn't stopped.", "Stop it first: POST /api/deployments/<id>/stop."],
    "run-state": ["The run's status doesn't allow this.", "GET /api/automation/runs/<id> shows its status."],
    "limit-reached": [
      "You have reached a limit of this service.",
      "Delete what you no longer need, or ask the operator to raise the limit.",
    ],
    "key-not-active": ["Only an active key can be rotated.", "Rotate an active key, or mint a new one."],
    "key-already-rotated": [
      "The key's successor was used, or is no longer active.",
      "Use or rotate the successor. The key list names it in replaced_by.",
    ],
  }),
  ...withStatus(412, {
    "precondition-failed": ["The spec changed since you read it.", "Read it again and send its new ETag in If-Match."],
  }),
  ...withStatus(413, {
    "payload-too-large": [
      "The body is too large. The limit is 64 KiB, or 2 MiB for a body with an AST.",
      "Send a smaller body.",
    ],
  }),
  ...withStatus(415, {
    "unsupported-media-type": [
      "The body must be JSON with Content-Type: application/json.",
      "Send JSON in UTF-8 with Content-Type: application/json. Only bodies that can hold an AST may be compressed with gzip.",
    ],
  }),
  ...withStatus(422, {
    "idempotency-key-reused": [
      "This Idempotency-Key was used with a different body.",
      "Use a new key for a new request.",
    ],
  }),
  ...withStatus(429, {
    "rate-limit-exceeded": ["Too many requests. Wait before the next one.", "Wait retry_after_seconds.", true],
  }),
  ...withStatus(500, {
    "internal-error": [
      "The service failed. Its log describes the failure under the request id.",
      "Send the request id to the operator.",
    ],
  }),
  ...withStatus(503, {
    "outcome-unknown": [
      "The database didn't confirm the change, so it may have been stored or not.",
      "Check before you retry. List the account's keys and revoke any that you didn't receive. After a sign-up, sign up again.",
      false,
    ],
    "service-unavailable": [
      "The service is temporarily unavailable.",
      "Nothing was changed. Send the same request again after Retry-After.",
      true,
    ],
  }),
})

export type ErrorCode = keyof typeof errors.rows

/** The error for a field of the body, the query or the path, which is wrong for this reason. */
export const wrongField = (code: ErrorCode, path: string, reason: string): ApiError =>
  errors.fail(code, { details: { path, reason } })

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
    docs: z.url().meta({ description: "The documentation's row that explains the code" }),
  })
  .openapi("Error")

export const errorEnvelope = (codes: readonly [ErrorCode, ...ErrorCode[]]) => anyError.extend({ code: z.enum(codes) })
