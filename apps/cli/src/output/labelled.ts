import type { Cell } from "./table.ts"

/** A name for each member of a type; undefined for one that isn't shown. */
export type Labels<Value> = { readonly [Member in keyof Value]-?: string | undefined }

/** Pairs of name and value of an object's members. A new member of the type has to be shown, or left out on purpose. */
export const labelled = <Value extends { readonly [Member in keyof Value]: Cell }>(
  value: Value,
  labels: Labels<Value>,
): [string, Cell][] =>
  Object.entries<string | undefined>(labels).flatMap(([member, label]): [string, Cell][] =>
    label === undefined ? [] : [[label, value[member as keyof Value]]],
  )
