import { ApiError, defineErrors } from "@svc/errors"

const mint = "Mint a session token at the platform (POST /ws/sessions)"

/** Every refusal of the relay. Clients read `code` and `retryable`; statuses and codes are the public contract. */
export const errors = defineErrors({
  invalid_request: {
    status: 400,
    retryable: false,
    message: "The request body is not what this route takes.",
    hint: "details names the first thing that is wrong; every field stands in /openapi.json.",
  },
  invalid_base64: {
    status: 400,
    retryable: false,
    message: "The value is not canonical, padded base64.",
    hint: "Use the standard alphabet with padding, without white space.",
  },
  transaction_too_large: {
    status: 400,
    retryable: false,
    message: "The transaction or message is too large.",
    hint: "Use fewer instructions or accounts, or an address lookup table.",
  },
  invalid_options: {
    status: 400,
    retryable: false,
    message: "These options exclude each other.",
    hint: "Leave one of them out.",
  },
  invalid_accounts: {
    status: 400,
    retryable: false,
    message: "The accounts are not a short list of base58 addresses.",
    hint: "details names the first one that is wrong.",
  },
  invalid_signature: {
    status: 400,
    retryable: false,
    message: "The signature is not base58 of 64 bytes.",
    hint: "Use the signature that /send answered, which is the transaction's first.",
  },
  invalid_transaction: {
    status: 400,
    retryable: false,
    message: "The bytes are not a wire transaction or message.",
    hint: "Send the whole wire transaction (for a fee its message alone), as your library serialises it.",
  },
  unsigned_transaction: {
    status: 400,
    retryable: false,
    message: "A signature of the transaction is missing.",
    hint: "Let every required signer sign, then send.",
  },
  signature_verification_failed: {
    status: 400,
    retryable: false,
    message: "A signature does not belong to its signer and message.",
    hint: "Sign the message that is sent: any change after signing makes its signatures void.",
  },
  "token-missing": {
    status: 401,
    retryable: false,
    message: "A session token is required as a Bearer token.",
    hint: `${mint} and send it as Authorization: Bearer.`,
  },
  "token-expired": {
    status: 401,
    retryable: true,
    message: "The session token has expired.",
    hint: `${mint}, then repeat the request with the new one.`,
  },
  "token-invalid-signature": {
    status: 401,
    retryable: false,
    message: "The session token's signature is wrong.",
    hint: "Send the token exactly as it was minted.",
  },
  "token-invalid-format": {
    status: 401,
    retryable: false,
    message: "The session token is not one that can be read.",
    hint: "Send the token exactly as it was minted.",
  },
  "token-invalid-issuer": {
    status: 401,
    retryable: false,
    message: "The session token is from another issuer.",
    hint: `${mint} that this relay belongs to.`,
  },
  "token-invalid-audience": {
    status: 401,
    retryable: false,
    message: "The session token is for another audience.",
    hint: `${mint} with the websocket_url of a stack that this relay serves.`,
  },
  "token-missing-claim": {
    status: 401,
    retryable: false,
    message: "The session token lacks a claim.",
    hint: `${mint}: this one is not of its making.`,
  },
  "token-key-not-found": {
    status: 401,
    retryable: false,
    message: "The session token's key is not known here.",
    hint: `${mint} that this relay trusts: this one was minted elsewhere, minted before a change of its keys, or damaged since.`,
  },
  insufficient_scope: {
    status: 403,
    retryable: false,
    message: "The session token lacks the scope of this route.",
    hint: `${mint} that has the scope; scopes do not imply each other.`,
  },
  "origin-mismatch": {
    status: 403,
    retryable: false,
    message: "The session token is for another origin.",
    hint: "Use the token on the origin that it was minted from.",
  },
  "origin-required": {
    status: 403,
    retryable: false,
    message: "The session token demands an Origin header.",
    hint: "Call from a page of the token's origin, or mint a token with a secret key.",
  },
  forbidden: {
    status: 403,
    retryable: false,
    message: "This relay serves its own machine only.",
    hint: "Call it as localhost, or let its operator set session keys (SVC_SESSION_JWKS_URL).",
  },
  not_found: {
    status: 404,
    retryable: false,
    message: "There is nothing at this path.",
    hint: "The paths stand in /openapi.json; /health tells whether the transaction routes are switched on.",
  },
  method_not_allowed: {
    status: 405,
    retryable: false,
    message: "This path does not take this method.",
    hint: "The header Allow names the methods.",
  },
  request_timeout: {
    status: 408,
    retryable: true,
    message: "The request body did not arrive in time.",
    hint: "Send the whole body at once.",
  },
  request_too_large: {
    status: 413,
    retryable: false,
    message: "The request body is too large.",
    hint: "Send only the fields of this route, which /openapi.json has, without white space.",
  },
  unsupported_media_type: {
    status: 415,
    retryable: false,
    message: "The body must be application/json.",
    hint: "Send Content-Type: application/json.",
  },
  rate_limit_exceeded: {
    status: 429,
    retryable: true,
    message: "Too many requests in a minute.",
    hint: "Wait as many seconds as Retry-After says, then repeat.",
  },
  internal_error: {
    status: 500,
    retryable: false,
    message: "The relay failed.",
    hint: "Tell the operator the requestId.",
  },
  not_implemented: {
    status: 501,
    retryable: false,
    message: "Live streams are served elsewhere.",
    hint: "Connect to a stream server of the stack: this relay only carries transactions.",
  },
  upstream_rpc_error: {
    status: 502,
    retryable: false,
    message: "The provider refused the call.",
    hint: "details holds the provider's code and message.",
  },
  upstream_unavailable: {
    status: 502,
    retryable: true,
    message: "The provider could not be used.",
    hint: "Where retryable is true, repeat, with the same bytes; else tell the relay's operator that the provider refuses it.",
  },
  submission_unknown: {
    status: 502,
    retryable: false,
    message: "The transaction may have been submitted: check its signature's status, do not send it again blindly.",
    hint: "Ask /signature-status for the signature until it has landed or its expiry is proven; don't sign another transaction for the same purpose before.",
  },
  server_busy: {
    status: 503,
    retryable: true,
    message: "The relay is busy.",
    hint: "Wait as many seconds as Retry-After says, then repeat.",
  },
  auth_unavailable: {
    status: 503,
    retryable: true,
    message: "No key to verify session tokens could be had yet.",
    hint: "Repeat after Retry-After; if it stays so, the platform cannot be reached from the relay.",
  },
  upstream_timeout: {
    status: 504,
    retryable: true,
    message: "The provider did not answer in time.",
    hint: "Repeat: a look-up changes nothing.",
  },
})

export type ErrorCode = Extract<keyof typeof errors.rows, string>

/** Codes of a 400: the request itself is wrong, and `details` names the first failure. */
export const badRequestCodes = [
  "invalid_request",
  "invalid_base64",
  "transaction_too_large",
  "invalid_options",
  "invalid_accounts",
  "invalid_signature",
  "invalid_transaction",
  "unsigned_transaction",
  "signature_verification_failed",
] as const satisfies readonly ErrorCode[]

export type BadRequestCode = (typeof badRequestCodes)[number]

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
