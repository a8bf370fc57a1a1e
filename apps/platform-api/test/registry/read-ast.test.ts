import { expect, test } from "vitest"
import { readAst } from "../../src/registry/ast/parse-ast.ts"
import { smallAst } from "./small-ast.ts"

const withExtra = (json: string) => JSON.stringify(smallAst()).replace(/}$/, `,"extra":${json}}`)

const rounded = "is an integer that JSON readers would round: write it as a string"
test.each([
  ['[{"max":18446744073709551615}]', `extra[0].max: ${rounded}`],
  ["-9007199254740993", `extra: ${rounded}`],
  ["1000000000000000000000001", `extra: ${rounded}`],
  ["1e999", "extra: is a number too large for JSON readers"],
  ['{"a":1,"a":2}', 'the document: has the member "a" twice in one object'],
  ["{", /^the document: isn't JSON \(/],
  [`${"[".repeat(200_000)}${"]".repeat(200_000)}`, /nested/],
])("%.30s is rejected, because readers would change or not accept it", (json, message) => {
  expect(() => readAst(withExtra(json))).toThrow(message)
})

test.each(["9007199254740991", "1000000000000000000", "0.1", "1e18", "-0", '"18446744073709551615"'])(
  "%s is accepted, because it keeps its value",
  (number) => {
    expect(readAst(withExtra(number))).toHaveProperty("extra", JSON.parse(number))
  },
)

test("a member named __proto__ is ordinary data", () => {
  const ast = readAst(withExtra('{"__proto__":{"stack_name":7}}'))
  expect(JSON.stringify(ast)).toContain('"extra":{"__proto__":{"stack_name":7}}')
})
