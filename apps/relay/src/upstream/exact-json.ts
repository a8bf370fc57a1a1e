import { parseExactly } from "@svc/common/exact-json"
import { hasMoreValues } from "@svc/common/json-text"

// JSON whose integers keep their digits: chain values go up to 2^64-1, doubles only to 2^53.

const utf8 = new TextDecoder("utf-8", { fatal: true })
const maxExactValues = 100_000
const maxU64 = "18446744073709551615"

/** Whether a text may contain a number that a double would change. Strings count too, which is only slower. */
const hasLongNumber = (text: string): boolean => /\d{16}/.test(text)

/**
 * Parses JSON bytes; a number that a double would change becomes a raw one. Throws on anything but UTF-8 JSON, and on a
 * text of over 100,000 values that needs exact parsing, which is slow and would delay every other request.
 */
export const parseExact = (bytes: Uint8Array): unknown => {
  const text = utf8.decode(bytes)
  if (!hasLongNumber(text)) return JSON.parse(text)
  if (hasMoreValues(text, maxExactValues)) throw new RangeError("too many values")
  return parseExactly(text, (source) => JSON.rawJSON(source))
}

/** Whether decimal text without leading zeros is at most 2^64-1. */
export const fitsU64 = (digits: string): boolean =>
  digits.length < maxU64.length || (digits.length === maxU64.length && digits <= maxU64)

/** The decimal text of a parsed JSON number, if it is an unsigned 64-bit integer. */
export const u64Text = (value: unknown): string | undefined => {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined
  if (!JSON.isRawJSON(value)) return undefined
  return /^[1-9]\d*$/.test(value.rawJSON) && fitsU64(value.rawJSON) ? value.rawJSON : undefined
}

/** Whether a parsed value nests at most `depth` levels, so that it can't overflow the writer. */
export const isShallow = (value: unknown, depth = 32): boolean => {
  if (typeof value !== "object" || value === null || JSON.isRawJSON(value)) return true
  return depth > 0 && Object.values(value).every((member) => isShallow(member, depth - 1))
}
