/** Why a token is rejected. The last two are valid tokens in the wrong place (403), all others are 401. */
export type TokenErrorCode =
  | "token-missing"
  | "token-expired"
  | "token-invalid-signature"
  | "token-invalid-format"
  | "token-invalid-issuer"
  | "token-invalid-audience"
  | "token-missing-claim"
  | "token-key-not-found"
  | "origin-mismatch"
  | "origin-required"

/** A token was rejected. */
export class TokenError extends Error {
  override readonly name = "TokenError"
  readonly code: TokenErrorCode

  /** @param message for people; never contains any part of the token */
  constructor(code: TokenErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** No verification key has been loaded yet, so no token can be checked. */
export class KeysUnavailableError extends Error {
  override readonly name = "KeysUnavailableError"
}
