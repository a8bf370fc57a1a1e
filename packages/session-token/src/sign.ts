import * as jose from "jose"
import { z } from "zod"
import { type NewSessionClaims, sessionLifetimeSeconds } from "./claims.ts"

export type SigningKeys = {
  readonly signing: { readonly kid: string; readonly privateKey: jose.CryptoKey }
  /** The public part of every key, starting with the signing key. */
  readonly publicKeys: readonly PublicJwk[]
}

const ed25519 = z.object({
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  x: z.string(),
  d: z.string().exactOptional(),
})
const jwkSet = z.object({ keys: z.array(ed25519).min(1) })

/** The public part of an Ed25519 JWK, with its thumbprint as `kid`. */
export const publicJwk = async (jwk: jose.JWK) => {
  const { x } = ed25519.parse(jwk)
  const bare = { kty: "OKP", crv: "Ed25519", x } as const
  return { ...bare, kid: await jose.calculateJwkThumbprint(bare), use: "sig", alg: "EdDSA" } as const
}

/** A verification key in a JWK set (RFC 8037). `kid` is its RFC 7638 thumbprint. */
export type PublicJwk = Awaited<ReturnType<typeof publicJwk>>

const readJwks = async (text: string): Promise<jose.JWK[]> => {
  const trimmed = text.trim()
  if (trimmed.startsWith("-----BEGIN")) {
    return [await jose.exportJWK(await jose.importPKCS8(trimmed, "EdDSA", { extractable: true }))]
  }
  const value: unknown = JSON.parse(trimmed)
  const set = jwkSet.safeParse(value)
  return set.success ? set.data.keys : [ed25519.parse(value)]
}

/**
 * Reads signing keys from a PKCS#8 PEM, a private JWK, or a JWK set whose first private key signs.
 * Throws an Error whose message contains no part of a key.
 */
export const readSigningKeys = async (text: string): Promise<SigningKeys> => {
  let jwks: jose.JWK[]
  try {
    jwks = await readJwks(text)
  } catch {
    throw new Error("the signing key must be an Ed25519 private key: a PKCS#8 PEM, a JWK, or a JWK set")
  }
  const signer = jwks.find((jwk) => jwk.d !== undefined)
  if (signer === undefined) throw new Error("the signing key holds no private key")
  try {
    const privateKey = await jose.importJWK({ ...signer, alg: "EdDSA" }, "EdDSA")
    if (privateKey instanceof Uint8Array) throw new TypeError("not an asymmetric key")
    const [signing, ...others] = await Promise.all([signer, ...jwks.filter((jwk) => jwk !== signer)].map(publicJwk))
    if (signing === undefined) throw new TypeError("no key")
    // Some verifiers reject a whole set because of one key that they can't read.
    await Promise.all(others.map((jwk) => jose.importJWK({ ...jwk }, "EdDSA")))
    return { signing: { kid: signing.kid, privateKey }, publicKeys: [signing, ...others] }
  } catch {
    throw new Error("the signing key is not a usable Ed25519 key, or one beside it in its set is not")
  }
}

/** Makes a private key, as the text of a JWK. Keep it secret. */
export const generateSigningKey = async (): Promise<string> => {
  const { privateKey } = await jose.generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true })
  const jwk = await jose.exportJWK(privateKey)
  return JSON.stringify({ ...jwk, ...(await publicJwk(jwk)), d: jwk.d })
}

/** The JWK set (RFC 7517) that verifiers fetch. */
export const publicJwks = (keys: SigningKeys): { readonly keys: readonly PublicJwk[] } => ({ keys: keys.publicKeys })

/**
 * Signs a session token as a compact JWT (EdDSA). It expires `sessionLifetimeSeconds` after `nowSeconds`.
 * @param jti a UUID
 */
export const signSessionToken = async (
  keys: SigningKeys,
  claims: NewSessionClaims,
  nowSeconds: number,
): Promise<{ readonly token: string; readonly expiresAt: number }> => {
  const expiresAt = nowSeconds + sessionLifetimeSeconds
  const token = await new jose.SignJWT({ ...claims, iat: nowSeconds, nbf: nowSeconds, exp: expiresAt })
    .setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid: keys.signing.kid })
    .sign(keys.signing.privateKey)
  return { token, expiresAt }
}
