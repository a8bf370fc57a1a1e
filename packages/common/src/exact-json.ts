/** A number kept as the text that stood in the JSON; JSON.stringify writes it back unchanged. */
type RawJson = { readonly rawJSON: string }

declare global {
  // In the language since 2025, not yet in the compiler's library.
  interface JSON {
    rawJSON(text: string): RawJson
    isRawJSON(value: unknown): value is RawJson
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown
  }
}

/**
 * Parses JSON; what becomes of a number that is no safe integer, which a double may not give back as it was written, is
 * said by `keep`. Some 50 times slower than `JSON.parse`. Throws SyntaxError, and RangeError for too deep nesting.
 * @param keep gets the number's text as it stands in the JSON, and its value as a double
 */
export const parseExactly = (text: string, keep: (source: string, value: number) => unknown): unknown =>
  JSON.parse(text, (_key, value, { source }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined ? keep(source, value) : value,
  )

/** Writes JSON; a bigint becomes a number with all its digits (u64 values go up to 18446744073709551615). */
export const writeExactly = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? JSON.rawJSON(String(item)) : item))
