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

/**
 * Pairs of name and text of the members of an object that have a name here, unless it is undefined. The names of a type's
 * members are a `Record` of its keys, so that a new member is shown, or left out on purpose.
 */
export const labelled = (value: unknown, names: Readonly<Record<string, string | undefined>>): [string, string][] =>
  Object.entries(names).flatMap(([member, name]): [string, string][] => {
    const list = listOf(value, member)
    return name === undefined ? [] : [[name, list.length > 0 ? list.join(" ") : textOf(value, member)]]
  })

/** The row of a table: these members of an object as text. */
export const rowOf = (value: unknown, names: readonly string[]): string[] => names.map((name) => textOf(value, name))
