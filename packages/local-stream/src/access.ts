import type { IncomingMessage } from "node:http"
import {
  createVerifier,
  type KeySource,
  KeysUnavailableError,
  type SessionClaims,
  TokenError,
} from "@svc/session-token"
import { StreamFault } from "./faults.ts"

/** Reads the token from the Authorization header, else the subprotocol, else the query parameter that existing clients use. */
const tokenOf = ({ headers }: IncomingMessage, query: URLSearchParams): string => {
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

/** Checks tokens for one stack as the relay does (signature, issuer, audience, time, origin), and the scope `read`. */
export const createAccess = (settings: {
  readonly keys: KeySource
  readonly issuer: string
  readonly stack: string
  /** In milliseconds since 1970. */
  readonly wallClock: () => number
}) => {
  const { keys, issuer, stack, wallClock } = settings
  const verifier = createVerifier({ keys, issuer, audiences: [stack], now: wallClock, cacheSize: 1_000 })

  /** Throws StreamFault. */
  const verify = async (token: string, origin: string | undefined): Promise<SessionClaims> => {
    const claims = await verifier.verify(token, origin).catch((error: unknown) => {
      if (error instanceof KeysUnavailableError) throw new StreamFault("auth-unavailable")
      throw error instanceof TokenError ? new StreamFault(error.code, error.message) : error
    })
    if (!claims.scope.split(" ").includes("read")) throw new StreamFault("insufficient-scope")
    return claims
  }
  return {
    verify,
    authorize: async (request: IncomingMessage, query: URLSearchParams) =>
      verify(tokenOf(request, query), request.headers.origin),
  }
}

export type Access = ReturnType<typeof createAccess>
