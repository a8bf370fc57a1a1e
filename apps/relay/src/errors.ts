import { ApiError, defineErrors } from "@svc/errors"

/** Every refusal of the relay. Clients read `code` and `retryable`; statuses and codes are the public contract. */
export const errors = defineErrors({
  invalid_request: { status: 400, retryable: false, message: "The request body is not what this route takes." },
  invalid_base64: { status: 400, retryable: false, message: "The value is not canonical, padded base64." },
  transaction_too_large: { status: 400, retryable: false, message: "The transaction or message is too large." },
  invalid_options: { status: 400, retryable: false, message: "These options exclude each other." },
  invalid_accounts: {
    status: 400,
    retryable: false,
    message: "The accounts are not a short list of base58 addresses.",
  },
  invalid_signature: { status: 400, retryable: false, message: "The signature is not base58 of 64 bytes." },
  invalid_transaction: { status: 400, retryable: false, message: "The bytes are not a wire transaction or message." },
  unsigned_transaction: { status: 400, retryable: false, message: "A signature of the transaction is missing." },
  signature_verification_failed: {
    status: 400,
    retryable: false,
    message: "A signature does not belong to its signer and message.",
  },
  "token-missing": { status: 401, retryable: false, message: "A session token is required as a Bearer token." },
  "token-expired": { status: 401, retryable: true, message: "The session token has expired: get a new one." },
  "token-invalid-signature": { status: 401, retryable: false, message: "The session token's signature is wrong." },
  "token-invalid-format": { status: 401, retryable: false, message: "The session token is not one that can be read." },
  "token-invalid-issuer": { status: 401, retryable: false, message: "The session token is from another issuer." },
  "token-invalid-audience": { status: 401, retryable: false, message: "The session token is for another audience." },
  "token-missing-claim": { status: 401, retryable: false, message: "The session token lacks a claim." },
  "token-key-not-found": { status: 401, retryable: false, message: "The session token's key is not known here." },
  insufficient_scope: { status: 403, retryable: false, message: "The session token lacks the scope of this route." },
  "origin-mismatch": { status: 403, retryable: false, message: "The session token is for another origin." },
  "origin-required": { status: 403, retryable: false, message: "The session token demands an Origin header." },
  forbidden: { status: 403, retryable: false, message: "This relay serves its own machine only." },
  not_found: { status: 404, retryable: false, message: "There is nothing at this path." },
  method_not_allowed: { status: 405, retryable: false, message: "This path does not take this method." },
  request_timeout: { status: 408, retryable: true, message: "The request body did not arrive in time." },
  request_too_large: { status: 413, retryable: false, message: "The request body is too large." },
  unsupported_media_type: { status: 415, retryable: false, message: "The body must be application/json." },
  rate_limit_exceeded: { status: 429, retryable: true, message: "Too many requests in a minute." },
  internal_error: { status: 500, retryable: false, message: "The relay failed." },
  not_implemented: { status: 501, retryable: false, message: "Live streams are served elsewhere." },
  upstream_rpc_error: { status: 502, retryable: false, message: "The provider refused the call." },
  upstream_unavailable: { status: 502, retryable: true, message: "The provider could not be used." },
  submission_unknown: {
    status: 502,
    retryable: false,
    message: "The transaction may have been submitted: check its signature's status, do not send it again blindly.",
  },
  server_busy: { status: 503, retryable: true, message: "The relay is busy." },
  auth_unavailable: { status: 503, retryable: true, message: "No key to verify session tokens could be had yet." },
  upstream_timeout: { status: 504, retryable: true, message: "The provider did not answer in time." },
})

export type ErrorCode = Extract<keyof typeof errors.rows, string>

/** Codes of a 400: the request itself is wrong, and `details` names the first failure. */
export type BadRequestCode =
  | "invalid_request"
  | "invalid_base64"
  | "transaction_too_large"
  | "invalid_options"
  | "invalid_accounts"
  | "invalid_signature"
  | "invalid_transaction"
  | "unsigned_transaction"
  | "signature_verification_failed"

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
