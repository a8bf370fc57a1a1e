import { createHmac, hash } from "node:crypto"
import { crc32 } from "node:zlib"

/** `ak`: an agent's secret key, `pk`: a publishable key for browsers, `sk`: a human's secret key. */
const kinds = ["ak", "pk", "sk"] as const
type KeyKind = (typeof kinds)[number]

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const randomLength = 26
const prefix = `svc_(${kinds.join("|")})_`
/** What a key begins with. */
export const keyPrefixes = kinds.map((kind) => `svc_${kind}_`)
const whole = new RegExp(`${prefix}[0-9A-Za-z]{38}`)
const shape = new RegExp(`^${whole.source}$`)

/** The last six base62 digits of a number, most significant first. */
const sixDigits = (value: number): string => {
  let rest = value
  let digits = ""
  for (let i = 0; i < 6; i++) {
    digits = alphabet.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

const tagOf = (text: string, secret: Uint8Array): string =>
  sixDigits(createHmac("sha256", secret).update(text).digest().readUIntBE(0, 6))

/**
 * Makes a new key: `svc_<kind>_`, 26 random base62 characters (154 bits), a 6-character authentication tag (HMAC-SHA256 of
 * all before) and a 6-character CRC-32 of all before.
 * @param randomBytes a CSPRNG, e.g. `randomBytes` of node:crypto
 * @param secret makes the tag; one for all keys of a service
 * @example
 * ```ts
 * recogniseKey(mintKey("ak", randomBytes, secret)) // "ak"
 * ```
 */
export const mintKey = (kind: KeyKind, randomBytes: (size: number) => Uint8Array, secret: Uint8Array): string => {
  let text = `svc_${kind}_`
  const wanted = text.length + randomLength
  while (text.length < wanted) {
    for (const byte of randomBytes(64)) {
      // Bytes from 248 up would make the first characters of the alphabet likelier than the others.
      if (byte < 248 && text.length < wanted) text += alphabet.charAt(byte % 62)
    }
  }
  text += tagOf(text, secret)
  return text + sixDigits(crc32(text))
}

const kindIn = (text: string, pattern: RegExp): KeyKind | undefined => {
  const kind = pattern.exec(text)?.[1]
  return kinds.find((one) => one === kind)
}

/** The kind that a key's prefix says, whatever follows; undefined without such a prefix. */
export const prefixKind = (text: string): KeyKind | undefined => kindIn(text, new RegExp(`^${prefix}`))

/** The kind of a key whose form and checksum are right, without any look-up; undefined for anything else. */
export const recogniseKey = (text: string): KeyKind | undefined =>
  sixDigits(crc32(text.slice(0, -6))) === text.slice(-6) ? kindIn(text, shape) : undefined

/** Whether a text has something in it that looks like a whole key. */
export const hasKey = (text: string): boolean => whole.test(text)

/** A text with every key in it, whole or cut off, replaced by its hint. */
export const withoutKeys = (text: string): string => text.replaceAll(new RegExp(`${prefix}[0-9A-Za-z]+`, "g"), keyHint)

/**
 * Whether `mintKey` made a recognised key with this secret. It says that a look-up is worth its cost, never that a key is
 * good.
 */
export const hasTag = (key: string, secret: Uint8Array): boolean =>
  tagOf(key.slice(0, -12), secret) === key.slice(-12, -6)

/**
 * What is stored of a key: SHA-256 of all its characters, 32 bytes. A fast hash is enough because 154 random bits can't
 * be guessed at any speed, and an index on it finds the key without comparing the key itself anywhere.
 */
export const hashKey = (key: string): Buffer => hash("sha256", key, "buffer")

/** How a key is shown after it was made: its prefix and last four characters, `svc_ak_…a1b2`. */
export const keyHint = (key: string): string => `${key.slice(0, 7)}…${key.slice(-4)}`
