import { isObject, type JsonObject as Json } from "@svc/common/json-object"
import { ownError, type SvcError } from "./error.ts"

export { isObject, type Json }

/** A member, if it is a string. */
export const textOf = (value: Json, name: string): string | undefined => {
  const member = value[name]
  return typeof member === "string" ? member : undefined
}

export const strange = (what: string): SvcError =>
  ownError("unexpected-answer", `The relay's answer has no ${what} that can be read`)

/** Requires a response to be an object. */
export const objectOf = (value: unknown): Json => {
  if (!isObject(value)) throw strange("object")
  return value
}

/** Reads a u64, which the relay writes as a decimal string. */
export const u64 = (value: Json, name: string): bigint => {
  const text = textOf(value, name)
  if (text === undefined || !/^(0|[1-9]\d{0,19})$/.test(text)) throw strange(name)
  return BigInt(text)
}

export const u64OrNull = (value: Json, name: string): bigint | null => (value[name] === null ? null : u64(value, name))

export const text = (value: Json, name: string): string => {
  const member = textOf(value, name)
  if (member === undefined) throw strange(name)
  return member
}
