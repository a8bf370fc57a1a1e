import { isObject } from "@svc/common/json-object"

/** A member of what a server sent, if it's text, else an empty string. */
export const textOf = (value: unknown, name: string): string => {
  const member = isObject(value) ? value[name] : undefined
  return typeof member === "string" ? member : ""
}
