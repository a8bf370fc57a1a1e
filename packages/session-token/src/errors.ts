/** Why a token is refused. The last two mean a good token in the wrong place (403), all others 401. */
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

export class TokenError extends Error {
  override readonly name = "TokenError"
  readonly code: TokenErrorCode

  /** @param message for people; never holds the token or a part of it */
  constructor(code: TokenErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** No verification key was ever had, so nothing can be said about any token. */
export class KeysUnavailableError extends Error {
  override readonly name = "KeysUnavailableError"
}
