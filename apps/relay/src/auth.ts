import type { Logger } from "@svc/program"
import { recogniseKey } from "@svc/keys"
import { hostNameOf, isLoopback } from "@svc/common/loopback"
import { KeysUnavailableError, relayScopes, type SessionClaims, TokenError, type Verifier } from "@svc/session-token"
import { badRequest, errors } from "./errors.ts"

type AuthRequest = {
  readonly authorization: string | undefined
  readonly origin: string | undefined
  readonly host: string | undefined
}

/** The caller, as far as the token identifies it. */
export type Principal = {
  readonly scopes: readonly string[]
  readonly claims: Partial<
    Pick<SessionClaims, "sub" | "key_class" | "metering_key" | "deployment_id" | "plan" | "limits">
  >
}

/** The boundary of authorization: returns the caller of a request, or throws an error of the table. */
export type HttpAuthPlugin = {
  readonly authorize: (request: AuthRequest) => Promise<Principal>
}

const challenge = (error: TokenError): Record<string, string> =>
  error.code === "token-missing"
    ? { "WWW-Authenticate": "Bearer" }
    : { "WWW-Authenticate": 'Bearer error="invalid_token"' }

const bearerToken = (authorization: string | undefined): string => {
  const [scheme = "", token, ...rest] = (authorization ?? "").trim().split(/ +/)
  if (scheme === "" || (token === undefined && scheme.toLowerCase() === "bearer")) {
    throw new TokenError("token-missing", errors.rows["token-missing"].message)
  }
  if (scheme.toLowerCase() !== "bearer" || token === undefined || rest.length > 0) {
    throw new TokenError("token-invalid-format", "The Authorization header must be `Bearer` and a session token.")
  }
  return token
}

/** The message and hint for a caller who sends an API key instead of a token, even a mistyped one. */
const keyAsToken = (authorization: string | undefined) => {
  const key = /\bsvc[_-]\S*$/i.exec(authorization?.trim() ?? "")?.[0]
  if (key === undefined) return {}
  const typo = recogniseKey(key) === undefined ? " The key is also mistyped: copy all of it." : ""
  return {
    message: "This is an API key, not a session token.",
    hint: `It is a key: mint a session token with it at the platform (POST /ws/sessions), then send that token.${typo}`,
  }
}

/** Callers send a signed session token. */
export const createSignedSessionAuthPlugin = (verifier: Verifier): HttpAuthPlugin => ({
  authorize: async ({ authorization, origin }) => {
    try {
      const claims = await verifier.verify(bearerToken(authorization), origin)
      return { scopes: claims.scope.split(" "), claims }
    } catch (error) {
      if (error instanceof KeysUnavailableError) throw errors.fail("auth_unavailable", { retryAfterSeconds: 1 })
      if (!(error instanceof TokenError)) throw error
      if (error.code === "origin-mismatch") checkOrigin(origin)
      const headers = errors.rows[error.code].status === 401 ? challenge(error) : {}
      const slip = error.code === "token-invalid-format" ? keyAsToken(authorization) : {}
      throw errors.fail(error.code, { message: error.message, headers, ...slip })
    }
  },
})

const isLocal = (url: string): boolean => isLoopback(hostNameOf(url) ?? "")

/** Throws `invalid_request` for an Origin that no browser sends (RFC 6454: the origin of a URL, or `null`). */
const checkOrigin = (origin: string | undefined): void => {
  if (origin === undefined || origin === "null" || URL.canParse(origin)) return
  throw badRequest("invalid_request", "Origin", "must be an origin such as https://app.example.com")
}

/**
 * Allows everything to everybody on this machine, for development. Host and Origin must be loopback. Otherwise any page in the
 * developer's browser could use the relay, directly or through a name that resolves to 127.0.0.1.
 */
export const createLoopbackAuthPlugin = (): HttpAuthPlugin => ({
  authorize: async ({ host, origin }) => {
    const local = isLocal(`http://${host ?? ""}`) && (origin === undefined || isLocal(origin))
    if (local) return { scopes: relayScopes, claims: {} }
    checkOrigin(origin)
    throw errors.fail("forbidden")
  },
})

const forwardingHeaders = ["x-forwarded-for", "forwarded", "via"]

/**
 * Checks the requests of an unprotected relay, and warns once of one that came through an untrusted proxy, which may serve other
 * machines. (The start warns of trusted proxies.)
 */
export const createProxyWarning = (log: Pick<Logger, "warn">) => {
  let warned = false
  return (headerOf: (name: string) => string | undefined, isProxied: boolean): void => {
    const header = warned ? undefined : forwardingHeaders.find((name) => headerOf(name) !== undefined)
    if (header === undefined || isProxied) return
    warned = true
    log.warn(
      { header },
      "a request came through a proxy, and the relay is unprotected: every client of the proxy can use it. " +
        "Set SVC_SESSION_JWKS_URL (or SVC_SESSION_PUBLIC_KEY) and SVC_SESSION_AUDIENCE, or take the relay off the proxy",
    )
  }
}

export type ProxyWarning = ReturnType<typeof createProxyWarning>
