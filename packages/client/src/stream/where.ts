// Loaded when a view is first watched with a filter.
import type { StackSchema } from "../generated/answers.ts"
import { isObject } from "../http/json.ts"
import type { Watched } from "./stream-watch.ts"
import type { Errors } from "./stream-socket.ts"
import { valueAt } from "./stream-records.ts"

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

const integer = /^(0|-?[1-9]\d{0,99})$/
const number = /^-?(0|[1-9]\d{0,99})(\.\d{1,99})?([eE][+-]?\d{1,3})?$/

/** A number, exactly: streams write wide integers as decimal strings. */
const exact = (value: unknown): bigint | number | undefined => {
  if (typeof value === "string" && integer.test(value)) return BigInt(value)
  return typeof value === "number" || typeof value === "bigint" ? value : undefined
}

const givenNumber = (value: unknown): bigint | number | undefined =>
  exact(value) ?? (typeof value === "string" && number.test(value) ? Number(value) : undefined)

const order = <Value extends string | number | bigint>(a: Value, b: Value): number => (a < b ? -1 : a > b ? 1 : 0)

/** Below 0, 0 or above 0; undefined if the two can't be compared. */
const compare = (found: unknown, given: unknown): number | undefined => {
  const [left, right] = [exact(found), givenNumber(given)]
  if (left !== undefined && right !== undefined) return order(left, right)
  if (typeof found === "string" && typeof given === "string") return order(found, given)
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

/** Whether a type is a structure with a member at this path. */
const hasMember = (types: StackSchema["types"], text: string, [name, ...rest]: readonly string[]): boolean => {
  if (name === undefined) return true
  const inner = text.replaceAll(/\s/g, "").replace(/^(?:Option<)+(.*?)>+$/, "$1")
  const type = types.find((one) => one.name === inner)
  return type?.kind === "struct" && type.fields.some((one) => one.name === name && hasMember(types, one.type, rest))
}

type Given = {
  readonly view: string
  readonly where: readonly Condition[]
  readonly schema: StackSchema | undefined
  readonly errors: Pick<Errors, "ownError">
}

/** Throws unless the conditions can be asked of the view. Returns the test, which throws if no record has a field. */
const filterOf = ({ view, where, schema, errors: { ownError } }: Given) => {
  const lacks = (field: string, fields: readonly string[]) =>
    ownError("field-not-found", `${view} has no field ${JSON.stringify(field)}`, {
      hint: `Its fields: ${fields.slice(0, 100).join(", ")}.`,
      details: { field, fields },
    })
  const entity = schema?.entities.find(({ name }) => name === view.split("/")[0])
  for (const { field, op, value } of where) {
    const invalid = (reason: string) => ownError("invalid-where", `The condition on ${JSON.stringify(field)} ${reason}`)
    if (!operators.includes(op)) throw invalid(`has no operator: use one of ${operators.join(", ")}`)
    if ((op === "in") !== Array.isArray(value))
      throw invalid(op === "in" ? "needs a list" : "takes one value, not a list")
    for (const one of op === "in" ? listOf(value) : [value]) {
      if (isObject(one) || one === undefined) throw invalid("needs a text, a number, true, false or null")
      if (Number.isInteger(one) && !Number.isSafeInteger(one)) throw invalid("needs its integer as a decimal string")
    }
    if (schema === undefined || entity === undefined) continue
    const isField = entity.fields.some(
      ({ path, rust_type }) =>
        field === path ||
        (field.startsWith(`${path}.`) && hasMember(schema.types, rust_type, field.slice(path.length + 1).split("."))),
    )
    if (!isField)
      throw lacks(
        field,
        entity.fields.map(({ path }) => path),
      )
  }
  const conditions = where.map((one) => ({ ...one, path: one.field.split(".") }))
  return {
    matches: (record: unknown): boolean =>
      conditions.every(({ path, op, value }) => tests[op](valueAt(record, path) ?? null, value)),
    /** Without a schema, only the records tell which fields there are. */
    check: (records: ReadonlyMap<string, unknown>): void => {
      if (entity !== undefined || records.size === 0) return
      const missing = conditions.find(({ path }) =>
        [...records.values()].every((record) => valueAt(record, path) === undefined),
      )
      const [first] = records.values()
      if (missing !== undefined) throw lacks(missing.field, isObject(first) ? Object.keys(first) : [])
    },
  }
}

/** The same steps with only the records that fulfil all conditions. A record that no longer does is a `delete`. */
export async function* filtered<T>(
  steps: AsyncGenerator<Watched<T>, void, void>,
  given: Given,
): AsyncGenerator<Watched<T>, void, void> {
  const { matches, check } = filterOf(given)
  let kept: ReadonlyMap<string, T> = new Map()
  for await (const { records, change } of steps) {
    check(records)
    if (change.op === "snapshot") {
      kept = new Map([...records].filter(([, record]) => matches(record)))
      yield { records: kept, change }
      continue
    }
    const { key } = change
    const left =
      change.op === "upsert" && change.removed !== undefined && kept.has(change.removed) ? change.removed : ""
    const wasKept = kept.has(key)
    const isKept = change.op === "upsert" && matches(change.record)
    if (!wasKept && !isKept && left === "") continue
    kept = new Map([...records].filter(([one]) => (one === key ? isKept : kept.has(one))))
    if (isKept)
      yield {
        records: kept,
        change: { op: "upsert", key, record: change.record, ...(left !== "" && { removed: left }) },
      }
    else yield { records: kept, change: { op: "delete", key: wasKept ? key : left } }
  }
}
