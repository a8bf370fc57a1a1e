import { isObject } from "@svc/common/json-object"
/** The value of JSON text, undefined for anything else. */
export const parseJson = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** A member that is a string, else the empty string: for tables, where a missing cell is an empty one. */
export const textOf = (value: unknown, name: string): string => {
  const member = isObject(value) ? value[name] : undefined
  return typeof member === "string" || typeof member === "number" || typeof member === "boolean" ? String(member) : ""
}

/** A member that is an array, else an empty one. */
export const listOf = (value: unknown, name: string): readonly unknown[] => {
  const member = isObject(value) ? value[name] : undefined
  return Array.isArray(member) ? member : []
}
