import { hash } from "node:crypto"
import { expect, test } from "vitest"
import { contentHash, parseAst } from "../../src/registry/ast/parse-ast.ts"

test("the hash is that of the canonical text of RFC 8785: order of members, numbers and escapes", () => {
  const ast = parseAst({
    stack_name: "S\u20ac\n\u000f",
    numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0],
    content_hash: "of its own",
    "\ufb33": 1,
    "\ud83d\ude00": 2,
    entities: [{ state_name: "E", identity: { primary_keys: [] }, sections: [] }],
  })
  expect(contentHash(ast)).toBe(
    hash(
      "sha256",
      '{"content_hash":"of its own","entities":[{"identity":{"primary_keys":[]},"sections":[],"state_name":"E"}],' +
        '"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],' +
        '"stack_name":"S\u20ac\\n\\u000f","\ud83d\ude00":2,"\ufb33":1}',
    ),
  )
})
