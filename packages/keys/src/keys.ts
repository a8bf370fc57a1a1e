import { createHash } from "node:crypto"
import { crc32 } from "node:zlib"

/** `ak`: an agent's secret key, `pk`: a publishable key for browsers, `sk`: a human's secret key. */
export type KeyKind = "ak" | "pk" | "sk"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const randomLength = 32
const shape = /^svc_(ak|pk|sk)_[0-9A-Za-z]{38}$/

const checksum = (text: string): string => {
  let rest = crc32(text)
  let digits = ""
  for (let i = 0; i < 6; i++) {
    digits = alphabet.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/**
 * Makes a new key: `svc_<kind>_`, 32 base62 characters (190 bits) and a 6-character base62 CRC-32 of all before.
 * @param randomBytes a CSPRNG, e.g. `randomBytes` of node:crypto
 */
export const mintKey = (kind: KeyKind, randomBytes: (size: number) => Uint8Array): string => {
  let text = `svc_${kind}_`
  const wanted = text.length + randomLength
  while (text.length < wanted) {
    for (const byte of randomBytes(64)) {
      // Bytes from 248 up would make the first characters of the alphabet likelier than the others.
      if (byte < 248 && text.length < wanted) text += alphabet.charAt(byte % 62)
    }
  }
  return text + checksum(text)
}

/** The kind of a key whose form and checksum are right, without any look-up; undefined for anything else. */
export const recogniseKey = (text: string): KeyKind | undefined => {
  const kind = shape.exec(text)?.[1]
  if (kind !== "ak" && kind !== "pk" && kind !== "sk") return undefined
  return checksum(text.slice(0, -6)) === text.slice(-6) ? kind : undefined
}

/**
 * What is stored of a key: SHA-256 of all its characters, 32 bytes. A fast hash is enough because 190 random bits cannot
 * be guessed at any speed, and it lets a key be found by an index without comparing the key itself anywhere.
 */
export const hashKey = (key: string): Buffer => createHash("sha256").update(key).digest()

/** How a key is shown after it was made: its prefix and last four characters, `svc_ak_…a1b2`. */
export const keyHint = (key: string): string => `${key.slice(0, 7)}…${key.slice(-4)}`
