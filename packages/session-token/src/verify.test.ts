import { CompactSign, exportPKCS8, exportSPKI, generateKeyPair, importJWK, jwtVerify, SignJWT } from "jose"
import fc from "fast-check"
import { expect, test } from "vitest"
import {
  createVerifier,
  generateSigningKey,
  publicJwks,
  readSigningKeys,
  signSessionToken,
  staticKeys,
  TokenError,
} from "./index.ts"
import { claims, start } from "../test/claims.ts"

const keys = await readSigningKeys(await generateSigningKey())
const jwks = JSON.stringify(publicJwks(keys))

const verifierAt = async (clock: { ms: number }) =>
  createVerifier({
    keys: await staticKeys(jwks),
    issuer: "svc-platform",
    audiences: ["other", "transfers"],
    now: () => clock.ms,
    cacheSize: 100,
  })

const mint = async (changes: Record<string, unknown> = {}, header: object = {}) => {
  const all = { ...claims, iat: start, nbf: start, exp: start + 300, ...changes }
  return new CompactSign(new TextEncoder().encode(JSON.stringify(all)))
    .setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid: keys.signing.kid, ...header })
    .sign(keys.signing.privateKey)
}

const codeOf = async (run: Promise<unknown>): Promise<string> => {
  try {
    await run
  } catch (error) {
    if (error instanceof TokenError) return error.code
    throw error
  }
  return "accepted"
}

test("a minted token lives 300 s, and any JWT library verifies it with only the published key", async () => {
  const { token, expiresAt } = await signSessionToken(keys, claims, start)
  expect(expiresAt).toBe(start + 300)
  const [jwk] = publicJwks(keys).keys
  expect(Object.keys(jwk ?? {}).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x"])
  const result = await jwtVerify(token, await importJWK({ ...jwk }), { currentDate: new Date(start * 1000) })
  expect(result.protectedHeader).toEqual({ alg: "EdDSA", typ: "JWT", kid: jwk?.kid })
  expect(result.payload).toEqual({ ...claims, iat: start, nbf: start, exp: start + 300 })
})

test("a valid token is accepted until its expiry plus 5 s, from the cache too", async () => {
  const clock = { ms: start * 1000 }
  const verifier = await verifierAt(clock)
  const token = await mint()
  for (const seconds of [-5, 0, 299, 304]) {
    clock.ms = (start + seconds) * 1000
    expect(await codeOf(verifier.verify(token, undefined))).toBe("accepted")
  }
  for (const [seconds, code] of [
    [305, "token-expired"],
    [-6, "token-invalid-format"],
  ] as const) {
    clock.ms = (start + seconds) * 1000
    expect(await codeOf(verifier.verify(token, undefined))).toBe(code)
    expect(await codeOf((await verifierAt(clock)).verify(token, undefined))).toBe(code)
  }
})

const other = await readSigningKeys(await generateSigningKey())
const secret = new TextEncoder().encode("a secret that is long enough to sign with")
const faults: [string, string, () => Promise<string> | string][] = [
  ["no dots", "token-invalid-format", () => "abc"],
  ["a token over 4 KiB", "token-invalid-format", () => mint({ jti: "x".repeat(4000) })],
  [
    "an alg of none",
    "token-invalid-format",
    () => `${Buffer.from('{"alg":"none","kid":"x"}').toString("base64url")}.e30.e30`,
  ],
  [
    "an HMAC",
    "token-invalid-format",
    () => new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: keys.signing.kid }).sign(secret),
  ],
  ["another typ", "token-invalid-format", () => mint({}, { typ: "at+jwt" })],
  ["a typ that isn't text", "token-invalid-format", () => mint({}, { typ: 7 })],
  [
    "a critical extension",
    "token-invalid-format",
    () =>
      `${Buffer.from(JSON.stringify({ alg: "EdDSA", kid: keys.signing.kid, crit: ["b"], b: 1 })).toString("base64url")}.e30.e30`,
  ],
  ["no kid", "token-missing-claim", () => mint({}, { kid: undefined })],
  ["an unknown kid", "token-key-not-found", () => signSessionToken(other, claims, start).then(({ token }) => token)],
  [
    "another key's signature",
    "token-invalid-signature",
    async () => {
      const body = new TextEncoder().encode(JSON.stringify({ ...claims, iat: start, nbf: start, exp: start + 300 }))
      return new CompactSign(body)
        .setProtectedHeader({ alg: "EdDSA", kid: keys.signing.kid })
        .sign(other.signing.privateKey)
    },
  ],
  ["another issuer", "token-invalid-issuer", () => mint({ iss: "someone" })],
  ["another audience", "token-invalid-audience", () => mint({ aud: "elsewhere" })],
  ["a list of audiences", "token-invalid-format", () => mint({ aud: ["transfers"] })],
  ["a scope that is a list", "token-invalid-format", () => mint({ scope: ["read"] })],
  ["a negative limit", "token-invalid-format", () => mint({ limits: { max_transaction_bytes: -1 } })],
  ["a key class that isn't one", "token-invalid-format", () => mint({ key_class: "secrets" })],
  ["a life over an hour", "token-invalid-format", () => mint({ exp: start + 3601 })],
  ["a beginning in the future", "token-invalid-format", () => mint({ nbf: start + 60 })],
  [
    "a payload that is no object",
    "token-invalid-format",
    () =>
      new CompactSign(new TextEncoder().encode("7"))
        .setProtectedHeader({ alg: "EdDSA", kid: keys.signing.kid })
        .sign(keys.signing.privateKey),
  ],
]

test.each(faults)("%s is %s", async (_, code, make) => {
  const verifier = await verifierAt({ ms: start * 1000 })
  expect(await codeOf(verifier.verify(await make(), undefined))).toBe(code)
})

test("a token needs iss, sub, aud, exp and scope; without iat its lifetime is the time left", async () => {
  const clock = { ms: start * 1000 }
  const verifier = await verifierAt(clock)
  const bare = { iat: undefined, nbf: undefined, jti: undefined, key_class: undefined, metering_key: undefined }
  const token = await mint({ ...bare, exp: start + 3601 })
  expect(await codeOf(verifier.verify(token, undefined))).toBe("token-invalid-format")
  clock.ms += 1000
  const { iss, sub, aud, scope } = claims
  expect(await verifier.verify(token, undefined)).toEqual({ iss, sub, aud, scope, exp: start + 3601 })
  for (const claim of ["iss", "sub", "aud", "exp", "scope"])
    expect(await codeOf(verifier.verify(await mint({ ...bare, [claim]: undefined }), undefined))).toBe(
      "token-missing-claim",
    )
})

test("unknown claims are ignored, and limits are passed on", async () => {
  const verifier = await verifierAt({ ms: start * 1000 })
  const token = await mint({
    limits: { max_transaction_bytes: 0 },
    plan: "free",
    deployment_id: 4,
    novelty: [1],
  })
  expect(await verifier.verify(token, undefined)).toMatchObject({
    limits: { max_transaction_bytes: 0 },
    deployment_id: 4,
  })
})

test("a token that is bound to an origin is valid only with that origin, cached or not", async () => {
  const verifier = await verifierAt({ ms: start * 1000 })
  const token = await mint({ origin: "https://app.example" })
  for (let i = 0; i < 2; i++) {
    expect(await codeOf(verifier.verify(token, "https://app.example"))).toBe("accepted")
    expect(await codeOf(verifier.verify(token, undefined))).toBe("origin-required")
    expect(await codeOf(verifier.verify(token, "https://app.example.evil"))).toBe("origin-mismatch")
  }
})

test("no change of a valid token is accepted, and any text fails only with a TokenError", async () => {
  const token = await mint()
  const verifier = await verifierAt({ ms: start * 1000 })
  await verifier.verify(token, undefined)
  await fc.assert(
    fc.asyncProperty(fc.nat(token.length - 1), fc.string(), async (at, text) => {
      const changed = token.slice(0, at) + text + token.slice(at + 1)
      if (changed !== token) expect(await codeOf(verifier.verify(changed, undefined))).not.toBe("accepted")
      expect(await codeOf(verifier.verify(text, undefined))).not.toBe("accepted")
    }),
  )
})

test("a token has one spelling: another last character that decodes to the same bytes is malformed", async () => {
  const verifier = await verifierAt({ ms: start * 1000 })
  const token = await mint()
  expect(await codeOf(verifier.verify(token, undefined))).toBe("accepted")
  for (const part of [0, 1, 2]) {
    const parts = token.split(".")
    const text = parts[part] ?? ""
    const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    const bytes = Buffer.from(text, "base64url")
    for (const digit of digits) {
      const twin = text.slice(0, -1) + digit
      if (twin === text || !bytes.equals(Buffer.from(twin, "base64url"))) continue
      const changed = parts.with(part, twin).join(".")
      expect(await codeOf(verifier.verify(changed, undefined))).toBe("token-invalid-format")
    }
  }
})

test("signing and public keys can be PEM, JWK or a JWK set, and give the same key id", async () => {
  const pair = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true })
  const fromPem = await readSigningKeys(await exportPKCS8(pair.privateKey))
  const { kid } = fromPem.signing
  expect(await (await staticKeys(await exportSPKI(pair.publicKey))).find(kid)).toBeDefined()
  expect(await (await staticKeys(JSON.stringify(fromPem.publicKeys[0]))).find(kid)).toBeDefined()
  const mine = await generateSigningKey()
  const set = await readSigningKeys(JSON.stringify({ keys: [fromPem.publicKeys[0], JSON.parse(mine)] }))
  expect(set.signing.kid).toBe((await readSigningKeys(mine)).signing.kid)
  expect(set.publicKeys.map((key) => key.kid)).toEqual([set.signing.kid, kid])
  expect(JSON.stringify(publicJwks(set))).not.toContain('"d"')
})

test("a key that can't be used is rejected without quoting it", async () => {
  const rsa = await generateKeyPair("RS256", { extractable: true })
  for (const text of [
    "hunter2",
    '{"kty":"OKP","d":"hunter2"}',
    JSON.stringify({ keys: [JSON.parse(await generateSigningKey()), { kty: "OKP", crv: "Ed25519", x: "hunter2" }] }),
    JSON.stringify(publicJwks(keys)),
    await exportPKCS8(rsa.privateKey),
  ]) {
    await expect(readSigningKeys(text)).rejects.toThrow(/^the signing key (?!.*hunter2)/)
  }
  const half = JSON.stringify({ keys: [...publicJwks(keys).keys, { kty: "OKP", crv: "Ed25519", x: "hunter2" }] })
  await expect(staticKeys(half)).rejects.toThrow(/^the public key (?!.*hunter2)/)
  await expect(staticKeys("hunter2")).rejects.toThrow(/^the public key (?!.*hunter2).* a JWK, or a JWK set$/)
  for (const text of [await exportPKCS8(rsa.privateKey), await generateSigningKey()]) {
    await expect(staticKeys(text)).rejects.toThrow(/^holds the private signing key/)
  }
})
