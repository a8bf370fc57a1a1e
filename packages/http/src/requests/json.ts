import { duplicateKey, hasMoreValues } from "@svc/common/json-text"

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export type JsonRules = {
  /** Rejects an object that names a key twice, where readers would disagree about which one counts. */
  readonly uniqueKeys?: boolean
  /** The most members and elements a text may have, in all. They are counted before anything is made of the text. */
  readonly maxValues?: number
}

/**
 * Parses JSON bytes: UTF-8 without a byte order mark (RFC 8259 section 8.1), else a SyntaxError or TypeError. Throws a
 * RangeError for more values than the rules allow.
 */
export const parseJson = (bytes: Uint8Array, rules: JsonRules = {}): unknown => parseJsonText(bytes, rules).value

/** As `parseJson`, with the text. */
export const parseJsonText = (
  bytes: Uint8Array,
  { uniqueKeys = false, maxValues = Infinity }: JsonRules,
): { readonly value: unknown; readonly text: string } => {
  const text = utf8.decode(bytes)
  if (hasMoreValues(text, maxValues)) throw new RangeError(`must have at most ${maxValues} members and elements`)
  const value: unknown = JSON.parse(text)
  const duplicate = uniqueKeys ? duplicateKey(text) : undefined
  if (duplicate !== undefined) throw new SyntaxError(`the key ${JSON.stringify(duplicate)} stands twice in one object`)
  return { value, text }
}
