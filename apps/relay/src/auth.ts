import { recogniseKey } from "@svc/keys"
import { isLoopback } from "@svc/loopback"
import { KeysUnavailableError, type SessionClaims, TokenError, type Verifier } from "@svc/session-token"
import { errors } from "./errors.ts"
import type { Scope } from "./routes/route.ts"

/** Of a request, what authorization may look at. */
type AuthRequest = {
  readonly authorization: string | undefined
  readonly origin: string | undefined
  readonly host: string | undefined
}

/** Who is calling: what a token says, as far as there is one. */
export type Principal = {
  readonly scopes: readonly string[]
  readonly claims: Partial<
    Pick<SessionClaims, "sub" | "key_class" | "metering_key" | "deployment_id" | "plan" | "limits">
  >
}

/** The boundary of authorization: names the caller of a request, or throws a refusal of the error table. */
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
    throw new TokenError("token-invalid-format", "The Authorization header must be Bearer and a session token.")
  }
  return token
}

const keyAsToken = {
  message: "This is an API key, not a session token.",
  hint: "It is a key: mint a session token with it at the platform (POST /ws/sessions), and send that token here.",
}

/** Callers carry a signed session token. */
export const createSignedSessionAuthPlugin = (verifier: Verifier): HttpAuthPlugin => ({
  authorize: async ({ authorization, origin }) => {
    let token = ""
    try {
      token = bearerToken(authorization)
      const claims = await verifier.verify(token, origin)
      return { scopes: claims.scope.split(" "), claims }
    } catch (error) {
      if (error instanceof KeysUnavailableError) throw errors.fail("auth_unavailable", { retryAfterSeconds: 1 })
      if (!(error instanceof TokenError)) throw error
      const headers = errors.rows[error.code].status === 401 ? challenge(error) : {}
      const isKey = error.code === "token-invalid-format" && recogniseKey(token) !== undefined
      throw errors.fail(error.code, { message: error.message, headers, ...(isKey && keyAsToken) })
    }
  },
})

const hostOf = (url: string): string => URL.parse(url)?.hostname ?? ""

const everyScope: readonly Scope[] = ["transaction:inspect", "transaction:send"]

/**
 * Lets everybody on this machine do everything, for local work. Host and Origin must be loopback: else any page in the
 * developer's browser could use the relay, directly or by a name that it points at 127.0.0.1.
 */
export const createLoopbackAuthPlugin = (): HttpAuthPlugin => ({
  authorize: async ({ host, origin }) => {
    const local = isLoopback(hostOf(`http://${host ?? ""}`)) && (origin === undefined || isLoopback(hostOf(origin)))
    if (!local) throw errors.fail("forbidden")
    return { scopes: everyScope, claims: {} }
  },
})

/** Throws `insufficient_scope`, naming what is missing. */
export const requireScope = (principal: Principal, scope: Scope): void => {
  if (principal.scopes.includes(scope)) return
  throw errors.fail("insufficient_scope", { message: `The session token lacks the scope ${scope}.` })
}
