import { expect, test } from "vitest"
import { variant } from "../src/stack/ast.ts"
import { compileExpression } from "../src/stack/expression.ts"
import { createStack } from "../src/stack/stack.ts"
import { transformation } from "../src/stack/value.ts"
import { embedded, from, handler, lookup, path, set } from "./ast.ts"
import { thingAst } from "./things.ts"

test("what a stack uses that isn't supported is listed by field and view", () => {
  const [idl] = thingAst.idls
  const entity = {
    state_name: "Round",
    identity: { primary_keys: ["id"], lookup_indexes: [] },
    handlers: [
      handler("p::TouchIxState", embedded("id"), [set("raw", "SetOnce", from("data"), { stop: "p::MarkIxState" })]),
      handler("p::BadgeState", lookup("__account_address"), [set("value", "LastWrite", from("value"))]),
    ],
    sections: [],
    resolver_hooks: [{ account_type: "p::BadgeState", strategy: { PdaReverseLookup: { lookup_name: "l" } } }],
    resolver_specs: [
      { resolver: "token", input_value: "mint", strategy: "SetOnce", extracts: [{ target_path: "token" }] },
      { resolver: { url: { method: "get" } }, strategy: "SetOnce", extracts: [{ target_path: "url" }] },
    ],
    computed_field_specs: [
      { target_path: "bytes", expression: { JsonToBytes: { expr: { FieldRef: { path: "value" } } } } },
    ],
    views: [{ id: "Round/grouped", pipeline: [{ GroupBy: { key: path("value") } }], output: "Collection" }],
  }
  const { unsupported } = createStack({ idls: [idl], entities: [entity] }, { name: "game", version: 1 }, "epoch").plan
  expect(unsupported.map(({ what, uses }) => `${what} uses ${uses}`).toSorted()).toEqual([
    "field Round.bytes uses JsonToBytes",
    "field Round.raw uses stop",
    "field Round.token uses the resolver token",
    "field Round.url uses the resolver url",
    "field Round.value uses PdaReverseLookup",
    "view Round/grouped uses GroupBy",
  ])
})

test("a computed field may compare itself with the slot; bytes are written in hexadecimal on request", () => {
  const parts = { left: { FieldRef: { path: "ends" } }, right: { Var: { name: "now" } } }
  const binary = (op: string) => ({ Binary: { op, ...parts } })
  const branches = { condition: binary("Gt"), then_branch: binary("Sub"), else_branch: "None" }
  const left = compileExpression(variant.parse({ Let: { name: "now", value: "ContextSlot", body: { If: branches } } }))
  const at = (slot: bigint) => left({ read: () => 500n, slot, timestamp: null, names: {} })
  expect([at(2n), at(500n)]).toEqual([498n, null])
  expect(transformation("HexEncode")([0xde, 0xad])).toBe("dead")
})
