import { expect, test } from "vitest"
import { DocumentFault } from "../../src/registry/ast/document-fault.ts"
import { parseAst } from "../../src/registry/ast/parse-ast.ts"
import { entity, field, smallAst, thing, typedAst, withFields } from "./small-ast.ts"

const faultOf = (value: unknown) => {
  try {
    parseAst(value)
  } catch (error) {
    if (error instanceof DocumentFault) return { path: error.path, reason: error.reason }
    throw error
  }
  return undefined
}

const nestedType = (levels: number): string => `${"Vec<".repeat(levels)}u8${">".repeat(levels)}`

test("an AST is returned exactly as it was passed, with unknown members", () => {
  const value = smallAst({ extra: { deep: [1, "two", null] }, entities: [entity("Thing", { handlers: [{}], odd: 1 })] })
  const before = structuredClone(value)
  expect(parseAst(value)).toBe(value)
  expect(value).toEqual(before)
})

test("a type of 32 levels and a path of 16 parts are allowed", () => {
  expect(faultOf(withFields([field("x".concat(".x".repeat(14)), nestedType(32))], "a"))).toBeUndefined()
})

test("members that the compiler omits by default may be omitted", () => {
  const { identity, sections } = entity("Thing")
  expect(faultOf({ stack_name: "S", entities: [{ state_name: "Thing", identity, sections }] })).toBeUndefined()
})

const first = "sections[0].fields[0]"
const typeOfFirst = `${first}.rust_type_name`
const view = (rest: object) => ({ views: [{ id: "A/x", ...rest }] })
const ofType = (type: object) => typedAst("T", [{ name: "T", type }])
const twoSections = [
  { name: "a", fields: [] },
  { name: "b", fields: [field("x", "u8"), { field_name: "y", rust_type_name: 5 }] },
]
const firstType = "idls[0].types[0].type"

test.each([
  ["no object", [], "", "must be an object"],
  ["null", null, "", "must be an object"],
  ["no name", smallAst({ stack_name: "" }), "stack_name", "must not be empty"],
  ["a long name", smallAst({ stack_name: "x".repeat(257) }), "stack_name", "must be at most 256 characters"],
  ["no entities", smallAst({ entities: [] }), "entities", "must not be empty"],
  ["entities missing", { stack_name: "S" }, "entities", "is missing"],
  ["an entity that isn't an object", smallAst({ entities: [7] }), "entities[0]", "must be an object"],
  ["no identity", smallAst({ entities: [{ state_name: "A", sections: [] }] }), "entities[0].identity", "is missing"],
  [
    "a type that is no string",
    smallAst({ entities: [entity("A"), entity("B", { sections: twoSections })] }),
    "entities[1].sections[1].fields[1].rust_type_name",
    "must be a string",
  ],
  ["an IDL type of an unknown kind", ofType({ kind: "union" }), `${firstType}.kind`, "must be struct, enum or type"],
  ["an enum without variants", ofType({ kind: "enum" }), `${firstType}.variants`, "is missing"],
  [
    "a broken type deep in an IDL",
    ofType({ kind: "struct", fields: [{ name: "a", type: { vec: { option: { array: ["u8", -1] } } } }] }),
    `${firstType}.fields[0].type.vec.option.array[1]`,
    "must be a length: a whole number or a generic",
  ],
  [
    "an entity named as another but for the case",
    smallAst({ entities: [entity("Thing"), entity("Other"), entity("THING")] }),
    "entities[2].state_name",
    "is already used by entities[0].state_name",
  ],
  [
    "a view whose id another entity's has",
    smallAst({ entities: ["A", "B"].map((name) => entity(name, { views: [{ id: "A/x" }] })) }),
    "entities[1].views[0].id",
    "is already used by entities[0].views[0].id",
  ],
  [
    "a member whose name is quoted in the path, and cut,",
    smallAst({ pdas: { "a b": { ["x".repeat(5000)]: "\0" } } }),
    `pdas["a b"]["${"x".repeat(64)}"]`,
    "has the character U+0000",
  ],
  ["text that has no UTF-8 form", smallAst({ docs: "\ud800" }), "docs", "has a lone surrogate"],
  ["a name that can't be stored", smallAst({ docs: { "\0": 1 } }), "docs", "has the character U+0000"],
])("%s is rejected with its path", (_, value, path, reason) => {
  expect(faultOf(value)).toEqual({ path, reason })
})

const fields = (given: object, name = "id") => ({ sections: [{ name, fields: [given] }] })

test.each([
  ["keys that are no names", { identity: { primary_keys: ["a", 1] } }, "identity.primary_keys[1]", "must be a string"],
  ["a type nested too deep", fields(field("x", nestedType(33))), typeOfFirst, "is nested deeper than 32 levels"],
  ["an emit that is no boolean", fields(field("x", "u8", { emit: "no" })), `${first}.emit`, "must be a boolean"],
  [
    "a path of too many parts",
    fields(field("x.".repeat(14) + "x", "u8"), "a.a"),
    `${first}.field_name`,
    "makes a path of more than 16 parts",
  ],
  ["an unknown output", view({ output: "Stream" }), "views[0].output", "must be one of Collection, Single, Keyed"],
  ["a pipeline that is no list", view({ pipeline: {} }), "views[0].pipeline", "must be an array"],
  [
    "a view whose id every entity has",
    view({ id: "Thing/list" }),
    "views[0].id",
    "is already used by the built-in list view of entities[0]",
  ],
  [
    "a field whose path another section's has, not emitted too,",
    {
      sections: [
        { name: "root", fields: [field("a.b", "u8")] },
        { name: "a", fields: [field("c", "u8"), field("b", "u8", { emit: false })] },
      ],
    },
    "sections[1].fields[1].field_name",
    `is already used by entities[0].${first}.field_name`,
  ],
])("%s in an entity is rejected with its path", (_, rest, path, reason) => {
  expect(faultOf(thing(rest))).toEqual({ path: `entities[0].${path}`, reason })
})

test.each([
  ["Option < Vec < u8 >", 'lacks a ">"'],
  ["Vec < u8 > >", 'has a ">" without an opening bracket'],
  ["[u8 ; 32", 'lacks a "]"'],
  ["Vec < ( u8 > )", 'has a ">" without an opening bracket'],
  ["Option < >", 'has an empty "<>"'],
  ["  ", "must not be empty"],
])("%j is rejected, because it isn't a Rust type", (type, reason) => {
  expect(faultOf(typedAst(type, []))).toEqual({ path: `entities[0].${typeOfFirst}`, reason })
})

test("a key may name a field that no section has, such as the compiler's own", () => {
  expect(faultOf(thing({ identity: { primary_keys: ["id.__account_address"] } }))).toBeUndefined()
})

test("an endlessly nested or circular value is rejected without overflowing the stack", () => {
  let deep: unknown = "u8"
  for (let i = 0; i < 100_000; i++) deep = { vec: deep }
  const types = [{ name: "T", type: { kind: "struct", fields: [{ name: "a", type: deep }] } }]
  expect(faultOf(typedAst("T", types))?.reason).toBe("is nested deeper than 128 levels")
  const circle: { vec?: unknown } = {}
  circle.vec = circle
  expect(faultOf(smallAst({ circle }))?.reason).toBe("is nested deeper than 128 levels")
})

const path = { segments: ["a"] }
const places: [string, (op: unknown) => object][] = [
  [
    "handlers[0].conditions[0].operator",
    (operator) => ({ handlers: [{ conditions: [{ field: path, operator, value: 1 }] }] }),
  ],
  [
    "handlers[0].mappings[1].condition.parsed.Comparison.op",
    (op) => {
      const parsed = { Comparison: { field: path, op, value: { op: 1 } } }
      return { handlers: [{ mappings: [{}, { condition: { expression: "a ? 1", parsed } }] }] }
    },
  ],
  [
    "instruction_hooks[0].actions[0].SetField.condition.parsed.Logical.conditions[0].Comparison.op",
    (op) => {
      const parsed = { Logical: { op: "And", conditions: [{ Comparison: { op } }] } }
      return { instruction_hooks: [{ actions: [{ SetField: { condition: { parsed } } }] }] }
    },
  ],
  ["resolver_specs[0].condition.op", (op) => ({ resolver_specs: [{ condition: { field_path: "a", op, value: 1 } }] })],
  [
    "views[0].pipeline[0].Filter.predicate.Not.Compare.op",
    (op) => {
      const predicate = { Not: { Compare: { field: path, op, value: { Literal: { op: 1 } } } } }
      return { views: [{ id: "A/b", pipeline: [{ Filter: { predicate } }] }] }
    },
  ],
  [
    "computed_field_specs[0].expression.Let.value.Binary.op",
    (op) => {
      const value = { Binary: { op, left: { Literal: { value: { op: "no operator" } } } } }
      return { computed_field_specs: [{ expression: { Let: { name: "x", value, body: "None" } } }] }
    },
  ],
]

test.each(places)(
  "%s is a known operator in any spelling; an unknown one is rejected with path and reason",
  (at, make) => {
    const of = (op: unknown) => faultOf(thing(make(op)))
    for (const op of ["Equal", "Eq", "Gte", "Contains", "LessThanOrEqual"]) expect(of(op)).toBeUndefined()
    for (const op of ["Frobnicate", "equal", "toString", "", 5, null, "ReverseBits"]) {
      const reason = expect.stringMatching(/^must be an operator: Equal, NotEqual, GreaterThan, /)
      expect([op, of(op)]).toEqual([op, { path: `entities[0].${at}`, reason }])
    }
  },
)

test("an operator is known only where it belongs: Xor in expressions, Not before one value, And between conditions", () => {
  const of = (expression: object) => faultOf(thing({ computed_field_specs: [{ expression }] }))
  const [left, right] = [{ Unary: { op: "ReverseBits", expr: "None" } }, { Binary: { op: "And" } }]
  expect(of({ Binary: { op: "Xor", left, right } })).toBeUndefined()
  expect(of({ Unary: { op: "Xor" } })).toEqual({
    path: "entities[0].computed_field_specs[0].expression.Unary.op",
    reason: "must be an operator: Not, ReverseBits",
  })
  expect(of({ Logical: { op: "Equal" } })?.reason).toBe("must be an operator: And, Or")
})

test("outside of conditions and expressions, op and operator are ordinary names", () => {
  const handlers = [
    { op: 1, mappings: [{ source: { AsCapture: { field_transforms: { operator: "ToString", op: "HexEncode" } } } }] },
  ]
  expect(faultOf(thing({ handlers, operator: "x" }))).toBeUndefined()
})
