import { ApiError, defineErrors, withStatus } from "@svc/errors"

const mint = "Mint a session token at the platform (POST /ws/sessions)"

/** The codes of a 400: the request itself is wrong, and `details` names the first failure. */
const badRequests = withStatus(400, {
  invalid_request: [
    "The request body is not what this route takes.",
    "details names the first thing that is wrong; every field stands in /openapi.json.",
  ],
  invalid_base64: [
    "The value is not canonical, padded base64.",
    "Use the standard alphabet with padding, without white space.",
  ],
  transaction_too_large: [
    "The transaction or message is too large.",
    "Use fewer instructions or accounts, or an address lookup table.",
  ],
  invalid_options: ["These options exclude each other.", "Leave one of them out."],
  invalid_accounts: [
    "The accounts are not a short list of base58 addresses.",
    "details names the first one that is wrong.",
  ],
  invalid_signature: [
    "The signature is not base58 of 64 bytes.",
    "Use the signature that /send answered, which is the transaction's first.",
  ],
  invalid_transaction: [
    "The bytes are not a wire transaction or message.",
    "Send the whole wire transaction (for a fee its message alone), as your library serialises it.",
  ],
  unsigned_transaction: ["A signature of the transaction is missing.", "Let every required signer sign, then send."],
  signature_verification_failed: [
    "A signature does not belong to its signer and message.",
    "Sign the message that is sent: any change after signing makes its signatures void.",
  ],
})

/**
 * Every refusal of the relay: its message, the next step, and whether a retry may help. Clients read `code` and `retryable`;
 * statuses and codes are the public contract.
 */
export const errors = defineErrors({
  ...badRequests,
  ...withStatus(401, {
    "token-missing": [
      "A session token is required as a Bearer token.",
      `${mint} and send it as Authorization: Bearer.`,
    ],
    "token-expired": ["The session token has expired.", `${mint}, then repeat the request with the new one.`, true],
    "token-invalid-signature": ["The session token's signature is wrong.", "Send the token exactly as it was minted."],
    "token-invalid-format": [
      "The session token is not one that can be read.",
      "Send the token exactly as it was minted.",
    ],
    "token-invalid-issuer": ["The session token is from another issuer.", `${mint} that this relay belongs to.`],
    "token-invalid-audience": [
      "The session token is for another audience.",
      `${mint} with the websocket_url of a stack that this relay serves.`,
    ],
    "token-missing-claim": ["The session token lacks a claim.", `${mint}: this one is not of its making.`],
    "token-key-not-found": [
      "The session token's key is not known here.",
      `${mint} that this relay trusts: this one was minted elsewhere, minted before a change of its keys, or damaged since.`,
    ],
  }),
  ...withStatus(403, {
    insufficient_scope: [
      "The session token lacks the scope of this route.",
      `${mint} that has the scope; scopes do not imply each other.`,
    ],
    "origin-mismatch": [
      "The session token is for another origin.",
      "Use the token on the origin that it was minted from.",
    ],
    "origin-required": [
      "The session token demands an Origin header.",
      "Call from a page of the token's origin, or mint a token with a secret key.",
    ],
    forbidden: [
      "This relay serves its own machine only.",
      "Call it as localhost, or let its operator set session keys (SVC_SESSION_JWKS_URL).",
    ],
  }),
  ...withStatus(404, {
    not_found: [
      "There is nothing at this path.",
      "The paths stand in /openapi.json; /health tells whether the transaction routes are switched on.",
    ],
  }),
  ...withStatus(405, {
    method_not_allowed: ["This path does not take this method.", "The header Allow names the methods."],
  }),
  ...withStatus(408, {
    request_timeout: ["The request body did not arrive in time.", "Send the whole body at once.", true],
  }),
  ...withStatus(413, {
    request_too_large: [
      "The request body is too large.",
      "Send only the fields of this route, which /openapi.json has, without white space.",
    ],
  }),
  ...withStatus(415, {
    unsupported_media_type: ["The body must be application/json.", "Send Content-Type: application/json."],
  }),
  ...withStatus(429, {
    rate_limit_exceeded: [
      "Too many requests in a minute.",
      "Wait as many seconds as Retry-After says, then repeat.",
      true,
    ],
  }),
  ...withStatus(500, {
    internal_error: ["The relay failed.", "Tell the operator the requestId."],
  }),
  ...withStatus(501, {
    not_implemented: [
      "Live streams are served elsewhere.",
      "Connect to a stream server of the stack: this relay only carries transactions.",
    ],
  }),
  ...withStatus(502, {
    upstream_rpc_error: ["The provider refused the call.", "details holds the provider's code and message."],
    upstream_unavailable: [
      "The provider could not be used.",
      "Where retryable is true, repeat, with the same bytes; else tell the relay's operator that the provider refuses it.",
      true,
    ],
    submission_unknown: [
      "The transaction may have been submitted: check its signature's status, do not send it again blindly.",
      "Ask /signature-status for the signature until it has landed or its expiry is proven; don't sign another transaction for the same purpose before.",
    ],
  }),
  ...withStatus(503, {
    server_busy: ["The relay is busy.", "Wait as many seconds as Retry-After says, then repeat.", true],
    auth_unavailable: [
      "No key to verify session tokens could be had yet.",
      "Repeat after Retry-After; if it stays so, the platform cannot be reached from the relay.",
      true,
    ],
  }),
  ...withStatus(504, {
    upstream_timeout: ["The provider did not answer in time.", "Repeat: a look-up changes nothing.", true],
  }),
})

export type ErrorCode = Extract<keyof typeof errors.rows, string>

export type BadRequestCode = keyof typeof badRequests
export const badRequestCodes = Object.keys(badRequests) as readonly BadRequestCode[]

export const badRequest = (code: BadRequestCode, path: string, reason: string): ApiError =>
  errors.fail(code, { details: { path, reason } })

/** A send whose fate is open: 504 when our own time ran out, else 502. */
export const submissionUnknown = (
  signature: string,
  options: { timedOut?: boolean; details?: unknown } = {},
): ApiError =>
  new ApiError(
    "submission_unknown",
    options.timedOut === true ? { ...errors.rows.submission_unknown, status: 504 } : errors.rows.submission_unknown,
    { details: options.details, extra: { submissionState: "unknown", signature } },
  )
