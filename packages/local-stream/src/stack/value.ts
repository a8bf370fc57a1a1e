import { base58 } from "@svc/common/base58"
import { isObject } from "@svc/common/json-object"

/** A value of a record. Integers of 64 bits and more are bigint here, and decimal strings in JSON. */
export type Value = null | boolean | number | bigint | string | readonly Value[] | { readonly [name: string]: Value }
export type Fields = Readonly<Record<string, Value>>

/** The AST uses something that the local stream doesn't support. `what` names it. */
export class Unsupported extends Error {
  readonly what: string

  constructor(what: string) {
    super(`${what} is not supported`)
    this.what = what
  }
}

/** A list of what `make` makes; an empty one after `report` was told what isn't supported. */
export const supported = <T>(report: (uses: string) => void, make: () => T): T[] => {
  try {
    return [make()]
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error
    report(error.what)
    return []
  }
}

/** Reads the value at a path. The path skips the name of an enum's variant with content, as in `{Stake: {…}}`. */
export const valueAt = (root: Value, path: readonly string[]): Value =>
  path.reduce<Value>((value, name) => {
    if (!isObject(value)) return null
    const [only, ...others] = Object.values(value)
    const inside = Object.hasOwn(value, name) ? value : others.length === 0 && isObject(only) ? only : {}
    return Object.hasOwn(inside, name) ? (inside[name] ?? null) : null
  }, root)

export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_name, item: unknown) => (typeof item === "bigint" ? String(item) : item))

const isBytes = (value: Value): value is readonly number[] =>
  Array.isArray(value) && value.every((item) => Number.isInteger(item) && Number(item) >= 0 && Number(item) < 256)

/** A value as text, for an index or a key. Bytes become base58. */
export const textOf = (value: Value): string => {
  if (isBytes(value)) return base58(value)
  return typeof value === "object" ? toJson(value) : String(value)
}

/** A record's key; undefined if there is none. Colons are escaped, because existing clients split keys at them. */
export const keyOf = (value: Value): string | undefined =>
  value === null || value === "" ? undefined : textOf(value).replaceAll(":", "%3A")

const isNumeric = (value: Value): boolean => typeof value === "number" || typeof value === "bigint"

/** Orders the values of a field: null first, numbers by size, anything else as text. */
export const compare = (a: Value, b: Value): number => {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  const [x, y] = isNumeric(a) && isNumeric(b) ? [a, b] : [textOf(a), textOf(b)]
  return x < y ? -1 : x > y ? 1 : 0
}

export const same = (a: Value, b: Value): boolean =>
  isNumeric(a) && isNumeric(b) ? compare(a, b) === 0 : toJson(a) === toJson(b)

const transforms = new Map<unknown, (value: Value) => Value>([
  [undefined, (value) => value],
  [null, (value) => value],
  ["Base58Encode", (value) => (isBytes(value) ? textOf(value) : value)],
  ["HexEncode", (value) => (isBytes(value) ? Buffer.from(value).toString("hex") : value)],
  ["ToString", (value) => (value === null ? null : textOf(value))],
])

/** Finds the function that a mapping applies to a value. Throws Unsupported. */
export const transformation = (name: unknown): ((value: Value) => Value) => {
  const transform = transforms.get(name)
  if (transform === undefined) throw new Unsupported(`the transformation ${String(name)}`)
  return transform
}

export type Kind = "wide" | "narrow" | "float" | "other"

/** The kind of values of a Rust type. `Option < u64 >` is a wide integer. */
export const kindOf = (rustType: string): Kind => {
  const bare = rustType.replaceAll(/\s|>/g, "").replaceAll("Option<", "")
  if (/^[iu](?:64|128|256|size)$/.test(bare)) return "wide"
  return /^[iu]\d+$/.test(bare) ? "narrow" : /^f\d+$/.test(bare) ? "float" : "other"
}

/** A number in the width of its field. */
export const inKind = (value: Value, kind: Kind): Value => {
  if (kind === "other" || (typeof value !== "number" && typeof value !== "bigint")) return value
  if (kind !== "wide") return kind === "narrow" ? Math.trunc(Number(value)) : Number(value)
  return typeof value === "bigint" ? value : Number.isFinite(value) ? BigInt(Math.trunc(value)) : null
}
