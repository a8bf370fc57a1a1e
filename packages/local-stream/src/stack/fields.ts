// Decides whether a mapping applies, and computes the next value of its field.
import { operatorNamed, type OperatorOf } from "@svc/common/ast-operators"
import { pathIn, type Variant } from "./ast.ts"
import { compare, same, textOf, toJson, Unsupported, type Value, valueAt } from "./value.ts"

export type Condition = (source: Value) => boolean

/** A value that is null is neither less nor greater. */
export const comparisons: Readonly<Record<OperatorOf<"comparison">, (value: Value, wanted: Value) => boolean>> = {
  Equal: same,
  NotEqual: (value, wanted) => !same(value, wanted),
  GreaterThan: (value, wanted) => value !== null && compare(value, wanted) > 0,
  GreaterThanOrEqual: (value, wanted) => value !== null && compare(value, wanted) >= 0,
  LessThan: (value, wanted) => value !== null && compare(value, wanted) < 0,
  LessThanOrEqual: (value, wanted) => value !== null && compare(value, wanted) <= 0,
  Contains: (value, wanted) =>
    Array.isArray(value) ? value.some((item) => same(item, wanted)) : toJson(value).includes(textOf(wanted)),
  Exist: (value) => value !== null,
}

/** Compares the value at a path. Throws Unsupported. */
export const comparison = (path: readonly string[], operator: string, wanted: unknown): Condition => {
  const name = operatorNamed(operator, "comparison")
  if (name === undefined) throw new Unsupported(`the condition ${operator}`)
  // The AST comes from JSON, so this is a value.
  return (source) => comparisons[name](valueAt(source, path), wanted as Value)
}

/** Compiles the parsed condition of a mapping. Throws Unsupported. */
export const parsedCondition = (parsed: Variant): Condition => {
  if (parsed.kind !== "Comparison") throw new Unsupported(`the condition ${parsed.kind}`)
  return comparison(pathIn(parsed, "field"), String(parsed.content["op"]), parsed.content["value"])
}

const populations = ["SetOnce", "LastWrite", "Append", "Count", "Sum", "Min", "Max", "UniqueCount"] as const

export type Population = (typeof populations)[number]

/** Throws Unsupported. */
export const readPopulation = (name: string): Population => {
  const population = populations.find((one) => one === name)
  if (population === undefined) throw new Unsupported(`the population ${name}`)
  return population
}

const sum = (a: Value, b: Value): Value => {
  if (typeof b !== "number" && typeof b !== "bigint") return a
  if (typeof a !== "number" && typeof a !== "bigint") return b
  return typeof a === "bigint" && typeof b === "bigint" ? a + b : Number(a) + Number(b)
}

/**
 * Computes a field's next value.
 * @param seen the values that a UniqueCount has counted
 */
export const populate = (population: Population, old: Value, value: Value, seen: Set<string>): Value => {
  if (population === "Count") return sum(old, 1n)
  if (population === "LastWrite") return value
  if (value === null) return old
  switch (population) {
    case "SetOnce":
      return old ?? value
    case "Append":
      return [...(Array.isArray(old) ? old : []), value]
    case "Sum":
      return sum(old, value)
    case "Min":
      return old !== null && compare(old, value) <= 0 ? old : value
    case "Max":
      return compare(old, value) >= 0 ? old : value
    case "UniqueCount":
      return BigInt(seen.add(textOf(value)).size)
    default:
      return population satisfies never
  }
}
