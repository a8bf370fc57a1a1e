import type { IncomingMessage } from "node:http"
import { createVerifier, KeysUnavailableError, type SessionClaims, TokenError } from "@svc/session-token"
import { StreamFault } from "./faults.ts"

/** Reads the token from the Authorization header, else the subprotocol, else the query parameter that existing clients use. */
export const tokenOf = ({ headers }: IncomingMessage, query: URLSearchParams): string => {
  if (headers.authorization !== undefined) {
    const [, token] = /^Bearer +([^\s]+)$/i.exec(headers.authorization.trim()) ?? []
    if (token !== undefined) return token
    throw new StreamFault("token-invalid-format", "The Authorization header must be Bearer and a session token.")
  }
  const protocols = (headers["sec-websocket-protocol"] ?? "").split(",").map((word) => word.trim())
  const offered = protocols.find((word) => word.startsWith("bearer."))?.slice("bearer.".length)
  const token = offered ?? query.get("hs_token") ?? ""
  if (token === "") throw new StreamFault("token-missing")
  return token
}

/** Returns a token's claims. Throws StreamFault. */
export type Verify = (token: string, origin: string | undefined) => Promise<SessionClaims>

/** Checks tokens for one stack as the relay does (signature, issuer, audience, time, origin), and the scope `read`. */
export const createVerify = (settings: Parameters<typeof createVerifier>[0]): Verify => {
  const verifier = createVerifier({ ...settings, cacheSize: 1_000 })
  return async (token, origin) => {
    const claims = await verifier.verify(token, origin).catch((error: unknown) => {
      if (error instanceof KeysUnavailableError) throw new StreamFault("auth-unavailable")
      throw error instanceof TokenError ? new StreamFault(error.code, error.message) : error
    })
    if (!claims.scope.split(" ").includes("read")) throw new StreamFault("insufficient-scope")
    return claims
  }
}
