import { expect, test } from "vitest"
import { readAst } from "../../src/registry/ast/read-ast.ts"
import { smallAst } from "./small-ast.ts"

const withExtra = (json: string) => JSON.stringify(smallAst()).replace(/}$/, `,"extra":${json}}`)

test.each(["18446744073709551615", "-9007199254740993", "1000000000000000000000001"])(
  "the integer %s, which JSON readers would round, is refused with its path",
  (integer) => {
    expect(() => readAst(withExtra(`[{"max":${integer}}]`))).toThrow(
      "extra[0].max: is an integer that JSON readers would round: write it as a string",
    )
  },
)

test.each(["9007199254740991", "1000000000000000000", "0.1", "1e18", "-0", '"18446744073709551615"'])(
  "%s is taken, since it comes out with the value that it went in with",
  (number) => {
    expect(readAst(withExtra(number))).toHaveProperty("extra", JSON.parse(number))
  },
)

test("a number beyond all doubles is refused", () => {
  expect(() => readAst(withExtra("1e999"))).toThrow("extra: is a number too large for JSON readers")
})

test("a member that stands twice in an object is refused: readers differ in which one counts", () => {
  expect(() => readAst(withExtra('{"a":1,"a":2}'))).toThrow('the document: has the member "a" twice in one object')
})

test("a text that is no JSON, or nested without end, is a DocumentFault too", () => {
  expect(() => readAst('{"stack_name": ')).toThrow(/^the document: isn't JSON \(/)
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`
  expect(() => readAst(withExtra(deep))).toThrow(/nested/)
})

test("a member named __proto__ is data like any other", () => {
  const ast = readAst(withExtra('{"__proto__":{"stack_name":7}}'))
  expect(JSON.stringify(ast)).toContain('"extra":{"__proto__":{"stack_name":7}}')
})
