// Loaded when a view is first watched with a filter.
import { lastSegment } from "@svc/common/rust-path"
import type { StackSchema } from "../generated/answers.ts"
import { isObject } from "../http/json.ts"
import type { Watched } from "./stream-watch.ts"
import type { Errors } from "./stream-socket.ts"
import { compare as inOrder, exact, valueAt } from "./stream-records.ts"

/** How a filter compares a field with a value. */
export const operators = ["eq", "ne", "lt", "lte", "gt", "gte", "in", "contains"] as const

/** What a record must fulfil. */
export type Condition = {
  /** The field's path, as the schema writes it: `amount.lamports`. */
  readonly field: string
  readonly op: (typeof operators)[number]
  /** For `in` a list. Integers beyond 2^53 are decimal strings or bigints. */
  readonly value: unknown
}

const number = /^-?(0|[1-9]\d{0,99})(\.\d{1,99})?([eE][+-]?\d{1,3})?$/

const givenNumber = (value: unknown): bigint | number | undefined =>
  exact(value) ?? (typeof value === "string" && number.test(value) ? Number(value) : undefined)

/** Below 0, 0 or above 0; undefined if the two can't be compared. */
const compare = (found: unknown, given: unknown): number | undefined => {
  const [left, right] = [exact(found), givenNumber(given)]
  if (left !== undefined && right !== undefined) return inOrder(left, right)
  if (typeof found === "string" && typeof given === "string") return inOrder(found, given)
  const isSame = found === given || (typeof found === "boolean" && String(found) === given)
  return isSame ? 0 : undefined
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : [])

const tests: Readonly<Record<Condition["op"], (found: unknown, given: unknown) => boolean>> = {
  eq: (found, given) => compare(found, given) === 0,
  ne: (found, given) => compare(found, given) !== 0,
  lt: (found, given) => (compare(found, given) ?? 0) < 0,
  lte: (found, given) => (compare(found, given) ?? 1) <= 0,
  gt: (found, given) => (compare(found, given) ?? 0) > 0,
  gte: (found, given) => (compare(found, given) ?? -1) >= 0,
  in: (found, given) => listOf(given).some((one) => compare(found, one) === 0),
  contains: (found, given) =>
    typeof found === "string" ? found.includes(String(given)) : listOf(found).some((one) => compare(one, given) === 0),
}

/** A type without white space and Option: u64 for `Option < u64 >`. */
const bare = (type: string): string => {
  const text = type.replaceAll(/\s/g, "")
  const inner = /^Option<(.*)>$/.exec(text)?.[1]
  return inner === undefined ? text : bare(inner)
}

/** The type of what a value of this type has at this path; undefined if there is nothing. */
const typeIn = (types: StackSchema["types"], type: string, [name, ...rest]: readonly string[]): string | undefined => {
  if (name === undefined) return type
  const path = bare(type)
  // A field names a type with its module: token_sdk::accounts::Mint.
  const structure =
    types.find((one) => one.name === path) ?? types.find((one) => lastSegment(one.name) === lastSegment(path))
  const member = structure?.kind === "struct" ? structure.fields.find((one) => one.name === name) : undefined
  return member && typeIn(types, member.type, rest)
}

type View = {
  readonly view: string
  readonly schema: StackSchema | undefined
  readonly errors: Pick<Errors, "ownError">
}

const lacks = ({ view, errors }: View, field: string, fields: readonly string[]) =>
  errors.ownError("field-not-found", `${view} has no field ${JSON.stringify(field)}`, {
    hint: `Its fields: ${fields.slice(0, 100).join(", ")}.`,
    details: { field, fields },
  })

const entityOf = ({ view, schema }: View) => schema?.entities.find(({ name }) => name === view.split("/")[0])

/** A field's type; undefined if no schema tells. Throws field-not-found. */
export const fieldType = (view: View, field: string): string | undefined => {
  const fields = entityOf(view)?.fields
  if (fields === undefined) return undefined
  for (const { path, rust_type: type } of fields) {
    const rest =
      field === path ? [] : field.startsWith(`${path}.`) ? field.slice(path.length + 1).split(".") : undefined
    const found = rest && typeIn(view.schema?.types ?? [], type, rest)
    if (found !== undefined) return found
  }
  const paths = fields.map(({ path }) => path)
  throw lacks(view, field, paths)
}

const equality: readonly Condition["op"][] = ["eq", "ne", "in"]
const order: readonly Condition["op"][] = [...equality, "lt", "lte", "gt", "gte"]

/** What can be compared with a field, by its type, and how. Other types may be streamed in several forms. */
const kinds: readonly {
  readonly type: RegExp
  readonly wanted: string
  readonly ops: readonly Condition["op"][]
  readonly fits: (value: unknown, op: Condition["op"]) => boolean
}[] = [
  {
    type: /^[iu](?:8|16|32|64|128|256|size)$/,
    wanted: 'an integer, such as 5 or "5"',
    ops: order,
    fits: (value) => typeof exact(value) === "bigint" || Number.isInteger(value),
  },
  {
    type: /^f(?:32|64)$/,
    wanted: 'a number, such as 0.5 or "0.5"',
    ops: order,
    fits: (value) => givenNumber(value) !== undefined,
  },
  {
    type: /^bool$/,
    wanted: "true or false",
    ops: equality,
    fits: (value) => ["true", "false"].includes(String(value)),
  },
  { type: /^(?:String|&?str)$/, wanted: "a text", ops: operators, fits: (value) => typeof value === "string" },
  {
    type: /(?:^|::)(?:pubkey|publickey)$/i,
    wanted: "an address in base58",
    ops: operators,
    fits: (value, op) =>
      typeof value === "string" && (!equality.includes(op) || /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(value)),
  },
]

/** Throws for a condition that the view can't fulfil, whatever its records are. */
const checkCondition = (view: View, { field, op, value }: Condition): void => {
  const invalid = (reason: string, hint?: string, details?: object) =>
    view.errors.ownError("invalid-where", `The condition on ${JSON.stringify(field)} ${reason}`, { hint, details })
  if (!operators.includes(op)) throw invalid(`has no operator: use one of ${operators.join(", ")}`)
  if ((op === "in") !== Array.isArray(value))
    throw invalid(op === "in" ? "needs a list" : "takes one value, not a list")
  const type = fieldType(view, field)
  const kind = kinds.find((one) => one.type.test(bare(type ?? "")))
  if (kind?.ops.includes(op) === false) throw invalid(`(${type}) can't be compared by ${op}`)
  for (const one of op === "in" ? listOf(value) : [value]) {
    if (isObject(one) || one === undefined) throw invalid("needs a text, a number, true, false or null")
    const isLost = Number.isInteger(one) && !Number.isSafeInteger(one)
    if (isLost && !bare(type ?? "").startsWith("f")) throw invalid("needs its integer as a decimal string")
    const isNull = one === null && equality.includes(op)
    if (kind === undefined || isNull || kind.fits(one, op)) continue
    const shown = typeof one === "bigint" ? String(one) : JSON.stringify(one)
    throw invalid(`(${type}) doesn't take ${shown}`, `Pass ${kind.wanted}.`, { field, type, value: shown })
  }
}

/** Throws unless the conditions can be asked of the view. `check` throws if no record has a field. */
export const createFilter = (view: View, where: readonly Condition[]) => {
  for (const one of where) checkCondition(view, one)
  const conditions = where.map((one) => ({ ...one, path: one.field.split(".") }))
  return {
    matches: (record: unknown): boolean =>
      conditions.every(({ path, op, value }) => tests[op](valueAt(record, path) ?? null, value)),
    /** Without a schema, only the records tell which fields there are. */
    check: (records: ReadonlyMap<string, unknown>): void => {
      if (entityOf(view) !== undefined || records.size === 0) return
      const missing = conditions.find(({ path }) =>
        [...records.values()].every((record) => valueAt(record, path) === undefined),
      )
      const [first] = records.values()
      if (missing !== undefined) throw lacks(view, missing.field, isObject(first) ? Object.keys(first) : [])
    },
  }
}

/** The same steps with only the records that fulfil all conditions. A record that no longer does is a `delete`. */
export async function* filtered<T>(
  steps: AsyncGenerator<Watched<T>, void, void>,
  { where, ...view }: View & { readonly where: readonly Condition[] },
): AsyncGenerator<Watched<T>, void, void> {
  const { matches, check } = createFilter(view, where)
  let kept: ReadonlyMap<string, T> = new Map()
  for await (const { records, change } of steps) {
    check(records)
    if (change.op === "snapshot") {
      kept = new Map([...records].filter(([, record]) => matches(record)))
      yield { records: kept, change }
      continue
    }
    const { key } = change
    const removed = change.op === "upsert" ? change.removed : undefined
    const left = removed !== undefined && kept.has(removed) ? removed : undefined
    const wasKept = kept.has(key)
    const isKept = change.op === "upsert" && matches(change.record)
    if (!wasKept && !isKept && left === undefined) continue
    kept = new Map([...records].filter(([one]) => (one === key ? isKept : kept.has(one))))
    if (isKept) {
      const both = left !== undefined && { removed: left }
      yield { records: kept, change: { op: "upsert", key, record: change.record, ...both } }
      continue
    }
    for (const gone of [wasKept ? key : undefined, left])
      if (gone !== undefined) yield { records: kept, change: { op: "delete", key: gone } }
  }
}
