import { expect, test } from "vitest"
import { checkDerived, languages, typedModule } from "../../src/registry/types/typed-module.ts"
import { deriveSchema, deriveShape } from "../../src/registry/schema/derive-schema.ts"
import { diffSchemas } from "../../src/registry/schema/diff.ts"
import { AstTooLarge } from "../../src/registry/ast/document-fault.ts"
import { astFaults, parseAst } from "../../src/registry/ast/parse-ast.ts"
import { entity, field, smallAst } from "./small-ast.ts"

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
type Parts = {
  readonly fields?: readonly object[]
  /** The members of each struct of its IDL. */
  readonly structs?: Readonly<Record<string, readonly unknown[]>>
  readonly idls?: readonly object[]
}
const idlOf = (structs: NonNullable<Parts["structs"]>) => ({
  name: "p",
  program_id: "P",
  types: Object.entries(structs).map(([name, fields]) => ({ name, type: { kind: "struct", fields } })),
})

/** A stack whose one entity has these root fields, over its own IDL and others. */
const stack = ({ fields = [field("it", "T")], structs = {}, idls = [] }: Parts) =>
  smallAst({
    idls: [idlOf(structs), ...idls],
    entities: [entity("Thing", { program_id: "P", sections: [{ name: "root", fields }] })],
  })
const entityA = (rest: object) => smallAst({ entities: [entity("A", rest)] })

/** Stacks that grow with a number in one dimension each: the two of the trial that stopped a platform among them. */
const dimensions: Readonly<Record<string, (size: number) => object>> = {
  types: (size) => {
    const chain = times(size, (n) => [`T${n}`, [{ defined: `T${n + 1}` }]] as const)
    return stack({ fields: [field("it", "T0")], structs: Object.fromEntries(chain) })
  },
  fields: (size) => stack({ fields: times(size, (n) => field(`f${n}`, "Option < Vec < u8 > >")) }),
  "IDLs without types, and names that none of them has": (size) =>
    stack({ fields: times(size, (n) => field(`f${n}`, "a,a,a,a,a,a,a,a")), idls: times(size, () => ({ name: "b" })) }),
  "IDLs, and types of one that are named by all fields": (size) =>
    stack({
      fields: times(size, (n) => field(`f${n}`, `T${n}`)),
      structs: Object.fromEntries(times(size, (n) => [`T${n}`, ["u8"]])),
      idls: times(size, () => ({ name: "q", program_id: "P" })),
    }),
  "entities over IDLs of their program": (size) =>
    smallAst({
      idls: times(size, (n) => idlOf({ [`T${n}`]: ["u8"] })),
      entities: times(size, (n) => entity(`E${n}`, { program_id: "P" })),
    }),
  "members of one type": (size) => stack({ structs: { T: times(size, () => "u64") } }),
  "items of a tuple": (size) => stack({ structs: { T: [{ tuple: times(size, () => "i32") }] } }),
  "fields of deep paths and types": (size) =>
    stack({ fields: times(size, (n) => field(`${"a.".repeat(14)}f${n}`, `${"Vec<".repeat(32)}u8${">".repeat(32)}`)) }),
  views: (size) => entityA({ views: times(size, (n) => ({ id: `A/${n}` })) }),
  "names of sections": (size) =>
    entityA({ sections: times(size, (n) => ({ name: `s${n}`, fields: [field("f", "u8")] })) }),
}

const measure = (value: object) => {
  let steps = 0
  const ast = parseAst(value)
  const shape = deriveShape(ast, (more) => (steps += more))
  const sizes = languages.map((language) => typedModule(shape, language, { name: "s", version: 1 }).length)
  const nothing = { stack_name: "", entities: [], types: [] }
  sizes.push(JSON.stringify(deriveSchema(ast)).length, JSON.stringify(diffSchemas(nothing, shape)).length)
  return { input: JSON.stringify(value).length, steps, output: Math.max(...sizes) }
}

test.each(Object.entries(dimensions))("the work and its result grow only with the AST's size: %s", (_, make) => {
  for (const size of [10, 100, 1000]) {
    const { input, steps, output } = measure(make(size))
    expect(steps).toBeLessThan(input)
    expect(output).toBeLessThan(20 * input)
  }
})

const faultOf = (value: object): unknown => {
  try {
    checkDerived(parseAst(value))
  } catch (error) {
    if (error instanceof AstTooLarge) return error.message
    throw error
  }
  return undefined
}

const long = "ж".repeat(250)
const tupleOf = (size: number, item: string) => `(${times(size, () => item).join(",")})`

test.each<[string, object, string]>([
  [
    "a schema of a type with many members",
    stack({ structs: { T: times(21_000, (n) => ({ name: `${"m".repeat(200)}${n}`, type: "u8" })) } }),
    "idls: makes a schema of more than 4 MiB",
  ],
  [
    "changes that each say a long name",
    stack({ fields: [field("it", "a")], structs: { [`${long}::a`]: times(20_000, () => "u8") } }),
    "idls: makes changes of more than 4 MiB",
  ],
  [
    "entities whose names fill a list",
    smallAst({ entities: times(300, (n) => entity(`${long}${n}`)) }),
    "entities[129]: makes a list of entities of more than 64 KiB",
  ],
  [
    "a JSON Schema that is ten times as long as its tuples",
    stack({ fields: times(900, (n) => field(`f${n}`, tupleOf(200, "i32"))) }),
    "entities: makes json-schema types of more than 8 MiB",
  ],
  [
    "a short path in each field that means a long name",
    stack({
      fields: times(600, (n) => field(`f${n}`, tupleOf(250, "a"))),
      structs: { [`${"x".repeat(250)}::a`]: ["u8"] },
    }),
    "entities[0]: makes typescript types of more than 8 MiB",
  ],
])("%s is refused, with the place", (_, value, message) => {
  expect(faultOf(value)).toBe(message)
})

test("an IDL's type may nest as deeply as one in Rust's spelling, and no deeper", () => {
  const nested = (levels: number): unknown => (levels === 0 ? "u8" : { vec: nested(levels - 1) })
  const ofDepth = (levels: number) => smallAst({ idls: [idlOf({ T: [nested(levels)] })] })
  expect(astFaults(ofDepth(32))).toEqual([])
  expect(astFaults(ofDepth(33))[0]?.message).toBe("idls[0].types[0].type.fields[0]: is nested deeper than 32 levels")
})
