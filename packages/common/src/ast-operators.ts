// The operators of a stack's AST, in conditions and in the expressions of computed fields. Compilers spell some in two ways.

/** The operators by what they take. Each name has its other spellings. */
export const operators = {
  /** Of two values, or of a field and a value. */
  comparison: {
    Equal: ["Equals", "Eq"],
    NotEqual: ["NotEquals", "Ne"],
    GreaterThan: ["Gt"],
    GreaterThanOrEqual: ["Gte"],
    LessThan: ["Lt"],
    LessThanOrEqual: ["Lte"],
    Contains: [],
    Exist: ["Exists"],
  },
  /** Of conditions. */
  logical: { And: [], Or: [] },
  /** Of two numbers. */
  arithmetic: { Add: [], Sub: [], Mul: [], Div: [], Mod: [] },
  /** Of two integers. */
  bitwise: { Xor: [], BitAnd: [], BitOr: [], Shl: [], Shr: [] },
  /** Of one value. */
  unary: { Not: [], ReverseBits: [] },
} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>

type Operators = typeof operators
export type Group = keyof Operators
export type OperatorOf<G extends Group> = { [K in G]: keyof Operators[K] & string }[G]

/** The name of an operator of one of the groups in any spelling; undefined if there is none. */
export const operatorNamed = <G extends Group>(
  spelling: unknown,
  ...groups: readonly G[]
): OperatorOf<G> | undefined => {
  const all = groups.flatMap((group) => Object.entries<readonly unknown[]>(operators[group]))
  return all.find(([name, others]) => name === spelling || others.includes(spelling))?.[0] as OperatorOf<G> | undefined
}
