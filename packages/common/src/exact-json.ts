/** A number as its text in the JSON. JSON.stringify writes it back unchanged. */
type RawJson = { readonly rawJSON: string }

declare global {
  // In the language since 2025, but not in the compiler's types yet.
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
 * Parses JSON, with `keep` for each number that isn't a safe integer and may lose digits as a double. About 50 times slower
 * than `JSON.parse`. Throws SyntaxError, and RangeError for too deep nesting.
 * @param keep called with the number's text in the JSON and its value as a double
 */
export const parseExactly = (text: string, keep: (source: string, value: number) => unknown): unknown =>
  JSON.parse(text, (_key, value, { source }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined ? keep(source, value) : value,
  )

/** Writes JSON. A bigint becomes a number with all its digits (a u64 goes up to 18446744073709551615). */
export const writeExactly = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? JSON.rawJSON(String(item)) : item))
