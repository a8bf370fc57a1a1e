import { hash } from "node:crypto"
import { expect, test } from "vitest"
import type { Ast } from "../../src/registry/ast/ast-shape.ts"
import { contentHash } from "../../src/registry/ast/content-hash.ts"
import { parseAst } from "../../src/registry/ast/parse-ast.ts"
import { smallAst } from "./small-ast.ts"

test("the hash is that of the canonical text: members by UTF-16 code units, numbers and escapes as RFC 8785 has them", () => {
  const ast = parseAst({
    stack_name: "S\u20ac\n\u000f",
    numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0],
    "\ufb33": 1,
    "\ud83d\ude00": 2,
    entities: [{ state_name: "E", identity: { primary_keys: [] }, sections: [] }],
  })
  expect(contentHash(ast)).toBe(
    hash(
      "sha256",
      '{"entities":[{"identity":{"primary_keys":[]},"sections":[],"state_name":"E"}],' +
        '"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],' +
        '"stack_name":"S\u20ac\\n\\u000f","\ud83d\ude00":2,"\ufb33":1}',
    ),
  )
})

test("the order of members does not change the hash, any other change does, to content_hash itself too", () => {
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed)
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([key, member]) => [key, reversed(member)]),
    )
  }
  const ast = parseAst(smallAst({ content_hash: "a".repeat(64) }))
  const before = contentHash(ast)
  expect(contentHash(parseAst(reversed(ast)))).toBe(before)
  expect(contentHash({ ...ast, content_hash: "b".repeat(64) })).not.toBe(before)
  const { content_hash: _, ...without } = ast
  expect(contentHash(without as Ast)).not.toBe(before)
})
