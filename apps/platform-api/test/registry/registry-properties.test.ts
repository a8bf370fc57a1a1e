import fc from "fast-check"
import { expect, test } from "vitest"
import { DocumentFault } from "../../src/registry/ast/document-fault.ts"
import { contentHash, parseAst, readAst } from "../../src/registry/ast/parse-ast.ts"
import { deriveSchema, deriveShape, type Schema } from "../../src/registry/schema/derive-schema.ts"
import { languages, typedModule } from "../../src/registry/types/typed-module.ts"
import { sampleStacks } from "../../stacks/index.ts"
import { replaced } from "./shapes.ts"
import { entity, field, sampleText, smallAst } from "./small-ast.ts"

const typeNames = ["Alpha", "Beta", "Gamma", "Delta"]

// Types that name each other freely, circles included, beside names that are in no IDL.
const idlType = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("u64", "publicKey", "pubkey", "string", "bytes", "bool", "f64"),
    fc.constantFrom(...typeNames, "Nowhere").map((defined) => ({ defined })),
    fc.constantFrom(...typeNames).map((name) => ({ defined: { name } })),
    fc.record({ generic: fc.constant("T") }),
    fc.record({ vec: tie("any") }),
    fc.record({ option: tie("any") }),
    fc.record({ coption: tie("any") }),
    fc.record({ array: fc.tuple(tie("any"), fc.nat(64)) }),
    fc.record({ tuple: fc.array(tie("any"), { maxLength: 3 }) }),
    fc.record({ hashMap: fc.tuple(tie("any"), tie("any")) }),
  ),
})).any

const fields = fc.array(
  fc.oneof(
    idlType,
    idlType.map((type) => ({ name: "f", type })),
  ),
  { maxLength: 3 },
)
const definition = fc.oneof(
  fc.record({ kind: fc.constant("struct"), fields }),
  fc.record({
    kind: fc.constant("enum"),
    variants: fc.array(fc.record({ name: fc.constant("V"), fields }), { maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant("type"), alias: idlType }),
)
const idl = fc.record({
  name: fc.constant("p"),
  program_id: fc.constantFrom("A", "B", null),
  types: fc.array(fc.record({ name: fc.constantFrom(...typeNames), type: definition }), { maxLength: 6 }),
})
const rustType = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom("u64", "String", "x :: types :: Alpha", "Beta", "Gamma", "Nowhere"),
    tie("any").map((type) => `Option < ${type} >`),
    tie("any").map((type) => `Vec < ${type} >`),
    tie("any").map((type) => `[${type} ; 4]`),
  ),
})).any
const anEntity = fc
  .record({
    types: fc.array(fc.tuple(rustType, fc.boolean()), { maxLength: 4 }),
    program_id: fc.constantFrom("A", "B", null),
    section: fc.constantFrom("root", "state"),
  })
  .map(({ types, program_id, section }) => ({
    program_id,
    sections: [{ name: section, fields: types.map(([rust, emit], index) => field(`f${index}`, rust, { emit })) }],
  }))
const ast = fc
  .record({
    idls: fc.array(idl, { maxLength: 3 }),
    entities: fc.array(anEntity, { minLength: 1, maxLength: 3 }),
    extra: fc.jsonValue({ stringUnit: "grapheme" }),
  })
  .map(({ idls, entities, extra }) =>
    smallAst({ idls, extra, entities: entities.map((rest, index) => entity(`E${index}`, rest)) }),
  )

const spelt = (schema: Schema) => [
  ...schema.entities.flatMap((one) => one.fields.map((each) => each.rust_type)),
  ...schema.types.flatMap((type) => (type.kind === "struct" ? type.fields.map((each) => each.type) : [])),
]

test("every type that a schema uses is listed once by name, unless no IDL has it", () => {
  fc.assert(
    fc.property(ast, (value) => {
      const schema = deriveSchema(parseAst(value))
      const inIdls = new Set(
        (value as { idls?: { types: { name: string }[] }[] }).idls?.flatMap(({ types }) =>
          types.map(({ name }) => name),
        ),
      )
      const listed = schema.types.map(({ name }) => name)
      expect(listed).toEqual([...new Set(listed)].sort())
      for (const name of spelt(schema).flatMap((type) => type.split(/[^A-Za-z]+/))) {
        expect(listed.includes(name)).toBe(inIdls.has(name))
      }
    }),
  )
})

test("one AST has one schema, hash and set of modules, however it is read, and stays unchanged", () => {
  fc.assert(
    fc.property(ast, (value) => {
      const before = JSON.stringify(value)
      const [parsed, again] = [parseAst(value), parseAst(JSON.parse(before))]
      expect(deriveSchema(parsed)).toEqual(deriveSchema(again))
      expect(contentHash(parsed)).toBe(contentHash(again))
      for (const language of languages) {
        const [one, other] = [parsed, again].map((read) =>
          typedModule(deriveShape(read), language, { name: "s", version: 1 }),
        )
        expect(one).toBe(other)
      }
      expect(JSON.stringify(parsed)).toBe(before)
    }),
  )
})

const outcome = (value: unknown) => {
  try {
    const parsed = parseAst(value)
    contentHash(parsed)
    return deriveSchema(parsed).entities.length > 0
  } catch (error) {
    if (error instanceof DocumentFault) return error.message !== "" && error.reason !== ""
    throw error
  }
}

test("any JSON or text becomes an AST or a DocumentFault", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => outcome(value)))
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      expect(() => readAst(text)).toThrow(DocumentFault)
    }),
  )
})

test.each(sampleStacks)("the stack $name with any member replaced becomes a schema or a DocumentFault", ({ name }) => {
  const value: unknown = JSON.parse(sampleText(name))
  const anything = fc.oneof(fc.jsonValue(), fc.constantFrom("<", ">", "u8", "Option < u8 >", "", "\0", "\ud800"))
  fc.assert(
    fc.property(fc.array(fc.nat(1000), { minLength: 1, maxLength: 9 }), anything, (way, to) =>
      outcome(replaced(value, way, to)),
    ),
  )
})
