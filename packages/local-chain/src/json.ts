declare global {
  interface JSON {
    rawJSON(text: string): object
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
  }
}

const integer = /^-?(0|[1-9][0-9]*)$/

/** Parses JSON; an integer that a double cannot hold becomes a bigint instead of a nearby number. Throws SyntaxError. */
export const parseJson = (text: string): unknown =>
  JSON.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && !Number.isSafeInteger(value) && integer.test(source)
      ? BigInt(source)
      : value,
  )

/** Writes JSON; a bigint becomes a number with all its digits (u64 values go up to 18446744073709551615). */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? JSON.rawJSON(String(item)) : item))
