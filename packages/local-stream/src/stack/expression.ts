// Compiles the expressions of computed fields to functions of a record.
import { operatorNamed, type OperatorOf } from "@svc/common/ast-operators"
import { variant, type Variant } from "./ast.ts"
import { comparisons } from "./fields.ts"
import { type Fields, inKind, Unsupported, type Value } from "./value.ts"

type Scope = {
  /** The value of a field. Integers of any width are bigint, so that division truncates. */
  readonly read: (path: string) => Value
  readonly slot: bigint
  /** Unix seconds. */
  readonly timestamp: bigint | null
  readonly names: Fields
}

export type Expression = (scope: Scope) => Value

type Arithmetic = readonly [(a: bigint, b: bigint) => bigint | null, (a: number, b: number) => number]

/** On integers, and on floats. */
const arithmetic: Readonly<Record<OperatorOf<"arithmetic">, Arithmetic>> = {
  Add: [(a, b) => a + b, (a, b) => a + b],
  Sub: [(a, b) => a - b, (a, b) => a - b],
  Mul: [(a, b) => a * b, (a, b) => a * b],
  Div: [(a, b) => (b === 0n ? null : a / b), (a, b) => a / b],
  Mod: [(a, b) => (b === 0n ? null : a % b), (a, b) => a % b],
}

const relations: Readonly<Record<OperatorOf<"comparison" | "logical">, (a: Value, b: Value) => boolean>> = {
  ...comparisons,
  And: (a, b) => a === true && b === true,
  Or: (a, b) => a === true || b === true,
}

/** Two integers stay exact; an integer and a float become floats; null and anything gives null. */
const binary = (operator: string): ((a: Value, b: Value) => Value) => {
  const relation = operatorNamed(operator, "comparison", "logical")
  if (relation !== undefined) return relations[relation]
  const name = operatorNamed(operator, "arithmetic")
  if (name === undefined) throw new Unsupported(`the operator ${operator}`)
  const [whole, float] = arithmetic[name]
  return (a, b) => {
    if (typeof a === "bigint" && typeof b === "bigint") return whole(a, b)
    if (a === null || b === null) return null
    const result = float(Number(a), Number(b))
    return Number.isFinite(result) ? result : null
  }
}

/** A literal of the AST. Whole numbers are integers. */
const literal = (value: unknown): Value =>
  typeof value === "number" && Number.isInteger(value) ? BigInt(value) : (value as Value)

/** Throws Unsupported for a kind of expression that isn't implemented, such as a resolver's. */
export const compileExpression = ({ kind, content }: Variant): Expression => {
  const part = (name: string): Expression => compileExpression(variant.parse(content[name]))
  const text = (name: string): string => String(content[name])
  switch (kind) {
    case "FieldRef":
      return ({ read }) => read(text("path"))
    case "Var":
      return ({ names }) => names[text("name")] ?? null
    case "Literal":
      return () => literal(content["value"])
    case "None":
      return () => null
    case "ContextSlot":
      return ({ slot }) => slot
    case "ContextTimestamp":
      return ({ timestamp }) => timestamp
    case "Paren":
      return part("expr")
    case "Some":
      return part("value")
    case "Cast": {
      const [value, width] = [part("expr"), text("to_type").startsWith("f") ? "float" : "wide"] as const
      return (scope) => inKind(value(scope), width)
    }
    case "UnwrapOr": {
      const value = part("expr")
      return (scope) => value(scope) ?? literal(content["default"])
    }
    case "Binary": {
      const [operate, left, right] = [binary(text("op")), part("left"), part("right")]
      return (scope) => operate(left(scope), right(scope))
    }
    case "Let": {
      const [value, body] = [part("value"), part("body")]
      return (scope) => body({ ...scope, names: { ...scope.names, [text("name")]: value(scope) } })
    }
    case "If": {
      const [condition, then, otherwise] = [part("condition"), part("then_branch"), part("else_branch")]
      return (scope) => (condition(scope) === true ? then(scope) : otherwise(scope))
    }
    default:
      throw new Unsupported(kind)
  }
}
