import { isObject } from "@svc/common/json-object"

/** A string, number or boolean of an object as text, else an empty string: an empty cell in a table. */
export const textOf = (value: unknown, name: string): string => {
  const member = isObject(value) ? value[name] : undefined
  return typeof member === "string" || typeof member === "number" || typeof member === "boolean" ? String(member) : ""
}

export const listOf = (value: unknown, name: string): readonly unknown[] => {
  const member = isObject(value) ? value[name] : undefined
  return Array.isArray(member) ? member : []
}
