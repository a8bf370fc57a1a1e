/** An object of JSON whose members aren't known yet. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a parsed value is an object: not null, not an array. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A member of a parsed value, if it is a string. */
export const textOf = (value: unknown, name: string): string | undefined => {
  const member = isObject(value) ? value[name] : undefined
  return typeof member === "string" ? member : undefined
}

/** The value of JSON text; undefined for anything else. */
export const parseJson = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}
