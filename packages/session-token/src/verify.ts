import { compactVerify, decodeProtectedHeader, errors as joseErrors } from "jose"
import { LRUCache } from "lru-cache"
import { type SessionClaims, sessionClaims } from "./claims.ts"
import { TokenError } from "./errors.ts"
import type { KeySource } from "./key-source.ts"

export const maxTokenBytes = 4096
export const maxLifetimeSeconds = 3600
export const leewaySeconds = 5
const compact = /^[\w-]+\.[\w-]+\.[\w-]+$/

// Decoders ignore unused bits of the last character, so several texts could mean the same token.
const isCanonical = (part: string): boolean => Buffer.from(part, "base64url").toString("base64url") === part

const utf8 = new TextDecoder("utf-8", { fatal: true })

const malformed = (reason: string): TokenError => new TokenError("token-invalid-format", reason)

const keyId = (token: string): string => {
  if (token.length > maxTokenBytes) throw malformed("The token is longer than 4 KiB.")
  if (!compact.test(token) || !token.split(".").every(isCanonical)) throw malformed("The token is not a compact JWT.")
  let header: ReturnType<typeof decodeProtectedHeader>
  try {
    header = decodeProtectedHeader(token)
  } catch {
    throw malformed("The token's header is not JSON.")
  }
  if (header.alg !== "EdDSA") throw malformed("The token must be signed with EdDSA.")
  const { typ }: { typ?: unknown } = header
  if (typ !== undefined && !(typeof typ === "string" && typ.toUpperCase() === "JWT")) {
    throw malformed("The token is not a JWT.")
  }
  if (header.kid === undefined) throw new TokenError("token-missing-claim", "The token's header has no kid.")
  if (typeof header.kid !== "string") throw malformed("The token's kid must be a string.")
  return header.kid
}

const readClaims = (payload: Uint8Array): SessionClaims => {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(payload))
  } catch {
    throw malformed("The token's payload is not JSON.")
  }
  const result = sessionClaims.safeParse(value)
  if (result.success) return result.data
  const claim = result.error.issues[0]?.path[0]
  if (typeof value === "object" && value !== null && claim !== undefined && !(claim in value)) {
    throw new TokenError("token-missing-claim", `The token has no ${String(claim)}.`)
  }
  throw malformed(
    claim === undefined ? "The token's payload isn't an object." : `The claim ${String(claim)} is not valid.`,
  )
}

/**
 * Makes a verifier of session tokens (EdDSA, `kid` required, lifetime at most 3600 s, leeway 5 s). Valid tokens are cached
 * until they expire or the keys change, because a signature check costs more than the rest of a small request.
 * @param now wall clock, in milliseconds since 1970
 * @param cacheSize the maximum number of cached tokens
 * @example
 * ```ts
 * const verifier = createVerifier({ keys: await staticKeys(jwks), issuer, audiences, now: Date.now })
 * const { sub } = await verifier.verify(token, origin)
 * ```
 */
export const createVerifier = ({
  keys,
  issuer,
  audiences,
  now,
  cacheSize = 10_000,
}: {
  readonly keys: KeySource
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly now: () => number
  readonly cacheSize?: number
}) => {
  const verified = new LRUCache<string, { readonly claims: SessionClaims; readonly set: object | undefined }>({
    max: cacheSize,
  })

  const checkTime = ({ exp, ...claims }: SessionClaims): void => {
    const time = now() / 1000
    const { iat = time, nbf = iat } = claims
    if (exp + leewaySeconds <= time) throw new TokenError("token-expired", "The token has expired: mint a new one.")
    if (nbf - leewaySeconds > time || iat - leewaySeconds > time)
      throw malformed("The token is not valid yet: a clock is wrong.")
    if (exp - iat > maxLifetimeSeconds) throw malformed("The token lives longer than an hour.")
  }

  const checkOrigin = (claims: SessionClaims, origin: string | undefined): void => {
    if (claims.origin === undefined || claims.origin === origin) return
    if (origin === undefined) throw new TokenError("origin-required", "The token is bound to an origin: send Origin.")
    throw new TokenError("origin-mismatch", "The token is bound to another origin.")
  }

  const checkSignature = async (token: string) => {
    const kid = keyId(token)
    // Read before the key: a set that changes meanwhile only makes the token's next check one more signature check.
    const set = keys.current()
    const key = await keys.find(kid)
    if (key === undefined) throw new TokenError("token-key-not-found", "The token's key is not known here.")
    try {
      const { payload } = await compactVerify(token, key, { algorithms: ["EdDSA"] })
      return { claims: readClaims(payload), set }
    } catch (error) {
      if (error instanceof TokenError) throw error
      if (error instanceof joseErrors.JWSSignatureVerificationFailed) {
        throw new TokenError("token-invalid-signature", "The token's signature is wrong.")
      }
      throw malformed("The token is not a JWT.")
    }
  }

  return {
    /**
     * Returns the claims of a valid token. Throws TokenError, or KeysUnavailableError if no keys have been loaded yet.
     * @param origin the request's Origin header
     */
    verify: async (token: string, origin: string | undefined): Promise<SessionClaims> => {
      const known = verified.get(token)
      if (known !== undefined && known.set === keys.current()) {
        checkTime(known.claims)
        checkOrigin(known.claims, origin)
        return known.claims
      }
      verified.delete(token)
      const { claims, set } = await checkSignature(token)
      if (claims.iss !== issuer) throw new TokenError("token-invalid-issuer", "The token is from another issuer.")
      if (!audiences.includes(claims.aud)) {
        throw new TokenError("token-invalid-audience", "The token is for another audience.")
      }
      checkTime(claims)
      checkOrigin(claims, origin)
      verified.set(token, { claims, set })
      return claims
    },
  }
}

export type Verifier = ReturnType<typeof createVerifier>
