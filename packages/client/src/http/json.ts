import { isObject, type JsonObject as Json, parseJson, textOf } from "@svc/common/json-object"
import { ownError, type SvcError } from "./error.ts"

export { isObject, type Json, parseJson, textOf }

export const strange = (what: string): SvcError =>
  ownError("unexpected-answer", `The relay's response has no readable ${what}`)

/** Reads a value of a response. Throws SvcError, which has its name. */
export type Reader<Value> = (value: unknown, name: string) => Value

export const text: Reader<string> = (value, name) => {
  if (typeof value === "string") return value
  throw strange(name)
}

/** A u64, which the relay writes as a decimal string. */
export const u64: Reader<bigint> = (value, name) => {
  if (typeof value === "string" && /^(0|[1-9]\d{0,19})$/.test(value)) return BigInt(value)
  throw strange(name)
}

export const nullable =
  <Value>(reader: Reader<Value>): Reader<Value | null> =>
  (value, name) =>
    value === null ? null : reader(value, name)

export const list =
  <Item>(reader: Reader<Item>): Reader<readonly Item[]> =>
  (value, name) => {
    if (Array.isArray(value)) return value.map((item) => reader(item, name))
    throw strange(name)
  }

/** An object with these members. A member that is read as undefined is left out. */
export const object =
  <Value>(readers: { readonly [Name in keyof Value]-?: Reader<Value[Name] | undefined> }): Reader<Value> =>
  (value, name) => {
    if (!isObject(value)) throw strange(name)
    const members = Object.entries<Reader<unknown>>(readers).map(([key, reader]) => [key, reader(value[key], key)])
    return Object.fromEntries(members.filter(([, member]) => member !== undefined)) as Value
  }
