// Conditions as an option writes them: amount.lamports>1000000
import type { Condition } from "@svc/client"
import { operators } from "@svc/client/where"
import { parseJson } from "@svc/common/json-object"
import { usageError } from "../errors.ts"

const symbolsOf: Readonly<Record<Condition["op"], readonly string[]>> = {
  eq: ["=", "=="],
  ne: ["!="],
  lt: ["<"],
  lte: ["<="],
  gt: [">"],
  gte: [">="],
  in: ["in"],
  contains: ["contains"],
}
export const symbols = Object.values(symbolsOf).flat()
const isWord = (symbol: string): boolean => /\w/.test(symbol)
const signs = symbols.filter((symbol) => !isWord(symbol)).toSorted((a, b) => b.length - a.length)
const condition = new RegExp(
  String.raw`^\s*([^\s=!<>]+)\s*(${signs.join("|")}|(?<=\s)(?:${symbols.filter(isWord).join("|")})(?=\s))\s*(.+?)\s*$`,
)

/** `null` and JSON texts mean themselves. Other text stays text: the filter compares it with the field as what that is. */
const valueOf = (text: string): unknown => (text === "null" || text.startsWith('"') ? (parseJson(text) ?? null) : text)

const conditionOf = (text: string): Condition => {
  const [, field = "", symbol = "", value = ""] = condition.exec(text) ?? []
  const op = operators.find((one) => symbolsOf[one].includes(symbol))
  if (op === undefined) {
    throw usageError(
      `--where takes FIELD OPERATOR VALUE, such as 'amount.lamports>1000000'. Operators: ${symbols.join(" ")}.`,
    )
  }
  return { field, op, value: op === "in" ? value.split(",").map((one) => valueOf(one.trim())) : valueOf(value) }
}

/** The conditions of the option --where, one a line. */
export const readWhere = (lines: string | undefined): readonly Condition[] | undefined =>
  lines?.split("\n").map(conditionOf)
