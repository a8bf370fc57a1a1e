import { randomBytes } from "node:crypto"
import fc from "fast-check"
import { expect, test } from "vitest"
import { hashKey, hasTag, keyHint, mintKey, prefixKind, recogniseKey, withoutKeys } from "./index.ts"

const kinds = fc.constantFrom("ak", "pk", "sk")
const secret = randomBytes(32)

test("a minted key has the documented form and is recognised as its kind", () => {
  fc.assert(
    fc.property(kinds, (kind) => {
      const key = mintKey(kind, randomBytes, secret)
      expect(key).toMatch(new RegExp(`^svc_${kind}_[0-9A-Za-z]{38}$`))
      expect(recogniseKey(key)).toBe(kind)
    }),
  )
})

test("the checksum is the CRC-32 of everything before it in base62, most significant digit first, zero-padded", () => {
  const key = mintKey("ak", (size) => new Uint8Array(size), new Uint8Array(32))
  // The tag and the CRC-32 of svc_ak_ and 26 zeros, computed with Python's hmac and zlib
  expect(key.slice(0, 39)).toBe(`svc_ak_${"0".repeat(26)}GhMsax`)
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  let value = 0
  for (const digit of key.slice(39)) value = value * 62 + digits.indexOf(digit)
  expect(value).toBe(1466283387)
})

test("any changed character, missing character or swapped pair is rejected without a look-up", () => {
  fc.assert(
    fc.property(kinds, fc.nat(44), fc.nat(61), (kind, position, change) => {
      const key = mintKey(kind, randomBytes, secret)
      const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
      const other = digits.charAt(change)
      const changed = key.slice(0, position) + other + key.slice(position + 1)
      if (changed !== key) expect(recogniseKey(changed)).toBeUndefined()
      expect(recogniseKey(key.slice(0, -1))).toBeUndefined()
      expect(recogniseKey(`${key}0`)).toBeUndefined()
      expect(recogniseKey(`${key}\n`)).toBeUndefined()
    }),
  )
})

test("only a key minted with the same secret has its tag", () => {
  fc.assert(
    fc.property(kinds, fc.uint8Array({ minLength: 32, maxLength: 32 }), (kind, other) => {
      const key = mintKey(kind, randomBytes, secret)
      expect([hasTag(key, secret), hasTag(key, other)]).toEqual([true, false])
    }),
  )
})

test("keys of any kind are redacted from text, and the prefix shows the kind even of a truncated key", () => {
  fc.assert(
    fc.property(kinds, fc.integer({ min: 8, max: 45 }), (kind, length) => {
      const key = mintKey(kind, randomBytes, secret)
      expect(prefixKind(key.slice(0, length))).toBe(kind)
      expect(withoutKeys(`a ${key}, b`)).toBe(`a ${keyHint(key)}, b`)
    }),
  )
  expect([prefixKind("svc_xk_a"), withoutKeys("svc_xk_a")]).toEqual([undefined, "svc_xk_a"])
})

test("arbitrary text is never recognised as a key", () => {
  fc.assert(fc.property(fc.string(), (text) => recogniseKey(text) === undefined))
})

test("random bytes that would skew the alphabet are skipped", () => {
  const bytes = Uint8Array.from({ length: 64 }, (_, i) => (i % 2 === 0 ? 255 : 61))
  expect(mintKey("pk", () => bytes, secret).slice(7, 33)).toBe("z".repeat(26))
})

test("the stored hash is SHA-256 and the hint shows only the prefix and the last four characters", () => {
  expect(hashKey("abc").toString("hex")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  const key = mintKey("ak", randomBytes, secret)
  expect(keyHint(key)).toBe(`svc_ak_…${key.slice(-4)}`)
})
