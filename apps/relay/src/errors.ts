import { ApiError, defineErrors, withStatus } from "@svc/errors"

const mint = "Mint a session token at the platform (POST /ws/sessions)"

/** The codes of a 400: the request is wrong, and `details` names its first fault. */
const badRequests = withStatus(400, {
  invalid_request: [
    "The request isn't valid.",
    "`details` names the first fault; /openapi.json describes every field.",
  ],
  invalid_base64: ["The value isn't valid base64.", "Use the standard alphabet with padding and without white space."],
  transaction_too_large: [
    "The transaction or message is too large.",
    "Use fewer instructions or accounts, or an address lookup table.",
  ],
  invalid_options: ["These options can't be combined.", "Omit one of them."],
  invalid_accounts: ["The accounts aren't a short list of base58 addresses.", "`details` names the first wrong one."],
  invalid_signature: [
    "The signature isn't valid.",
    "Use the signature that /send returned: the first one of the transaction.",
  ],
  invalid_transaction: [
    "The bytes aren't a wire transaction or message.",
    "Send the whole wire transaction, as your library serialises it; for a fee, only its message.",
  ],
  unsigned_transaction: [
    "A signature of the transaction is missing.",
    "Send it after every required signer has signed.",
  ],
  signature_verification_failed: [
    "A signature doesn't match its signer and message.",
    "Sign the message that you send: any change after signing invalidates the signatures.",
  ],
})

/**
 * Every error of the relay: its message, the next step, and whether a retry may help. Clients use `code` and `retryable`; codes
 * and statuses are the public contract.
 */
export const errors = defineErrors({
  ...badRequests,
  ...withStatus(401, {
    "token-missing": [
      "A session token is required as a Bearer token.",
      `${mint}, and send it as Authorization: Bearer.`,
    ],
    "token-expired": ["The session token has expired.", `${mint}, then repeat the request with the new one.`, true],
    "token-invalid-signature": ["The session token's signature is wrong.", "Send the token exactly as it was minted."],
    "token-invalid-format": [
      "The session token can't be read.",
      "Send the token exactly as it was minted. If a clock is wrong, the operator has to correct it.",
    ],
    "token-invalid-issuer": ["The session token is from another issuer.", `${mint} of this relay.`],
    "token-invalid-audience": [
      "The session token is for another audience.",
      `${mint} with the websocket_url of a stack that this relay serves.`,
    ],
    "token-missing-claim": ["The session token lacks a claim.", `${mint}; another issuer made this one.`],
    "token-key-not-found": [
      "The relay doesn't know the key of the session token.",
      `${mint} that this relay trusts: this token is from another platform, from before a change of its keys, or damaged.`,
    ],
  }),
  ...withStatus(403, {
    insufficient_scope: [
      "The session token lacks the scope of this route.",
      `${mint} with this scope; no scope includes another.`,
    ],
    "origin-mismatch": ["The session token is for another origin.", "Use the token on the origin where it was minted."],
    "origin-required": [
      "The session token requires an Origin header.",
      "Call from a page of the token's origin, or mint a token with a secret key.",
    ],
    forbidden: [
      "This relay serves only its own machine.",
      "Call it as localhost, or let its operator set session keys (SVC_SESSION_JWKS_URL).",
    ],
  }),
  ...withStatus(404, {
    not_found: [
      "There is nothing at this path.",
      "/openapi.json lists the paths; /health shows whether the transaction routes are enabled.",
    ],
  }),
  ...withStatus(405, {
    method_not_allowed: ["This path doesn't allow this method.", "Use a method of the header Allow."],
  }),
  ...withStatus(408, {
    request_timeout: ["The request body didn't arrive in time.", "Send the whole body at once.", true],
  }),
  ...withStatus(413, {
    request_too_large: [
      "The request body is too large.",
      "Send only the fields of this route, without white space; /openapi.json lists them.",
    ],
  }),
  ...withStatus(415, {
    unsupported_media_type: [
      "The body must be application/json.",
      "Send JSON in UTF-8, uncompressed, with Content-Type: application/json.",
    ],
  }),
  ...withStatus(429, {
    rate_limit_exceeded: ["Too many requests in a minute.", "Wait for the seconds in Retry-After, then repeat.", true],
  }),
  ...withStatus(500, {
    internal_error: ["The relay failed.", "Report the requestId to the operator."],
  }),
  ...withStatus(501, {
    not_implemented: ["The relay doesn't serve streams.", "Connect to a stream server of the stack."],
  }),
  ...withStatus(502, {
    upstream_rpc_error: ["The provider rejected the call.", "`details` has the provider's code and message."],
    upstream_unavailable: [
      "The provider can't be used.",
      "If `retryable` is true, repeat with the same bytes. Otherwise the relay's operator must act.",
      true,
    ],
    submission_unknown: [
      "The transaction may have been submitted: look up its signature before anything else.",
      "Request /signature-status until the transaction has landed or its expiry is proven. Until then, don't sign another transaction for the same purpose.",
    ],
  }),
  ...withStatus(503, {
    server_busy: ["The relay is busy.", "Wait for the seconds in Retry-After, then repeat.", true],
    auth_unavailable: [
      "The relay has no key to verify session tokens yet.",
      "Repeat after the seconds in Retry-After. If this continues, the relay can't reach the platform.",
      true,
    ],
  }),
  ...withStatus(504, {
    upstream_timeout: ["The provider didn't respond in time.", "Repeat: a read changes nothing.", true],
  }),
})

export type ErrorCode = Extract<keyof typeof errors.rows, string>

export type BadRequestCode = keyof typeof badRequests
export const badRequestCodes = Object.keys(badRequests) as readonly BadRequestCode[]

export const badRequest = (code: BadRequestCode, path: string, reason: string): ApiError =>
  errors.fail(code, { details: { path, reason } })

/** The error of a send whose outcome is unknown: 504 if it timed out here, else 502. */
export const submissionUnknown = (options: { timedOut?: boolean; details?: unknown } = {}): ApiError =>
  new ApiError(
    "submission_unknown",
    options.timedOut === true ? { ...errors.rows.submission_unknown, status: 504 } : errors.rows.submission_unknown,
    { details: options.details },
  )
