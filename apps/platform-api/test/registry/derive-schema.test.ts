import { expect, test } from "vitest"
import { deriveSchema } from "../../src/registry/schema/derive-schema.ts"
import { parseAst } from "../../src/registry/ast/parse-ast.ts"
import { entity, field, smallAst, thing, typedAst } from "./small-ast.ts"

const derive = (value: unknown) => deriveSchema(parseAst(value))
const deriveOne = (rest: object) => derive(thing(rest)).entities[0]
const typesOf = (value: unknown) => derive(value).types
const namesOf = (value: unknown) => typesOf(value).map(({ name }) => name)
/** A struct of a schema, by the types of its fields. */
const derived = (name: string, ...types: string[]) => ({
  name,
  kind: "struct",
  fields: types.map((type, index) => ({ name: `f${index}`, type })),
})
const struct = (name: string, ...types: unknown[]) => ({
  name,
  type: { kind: "struct", fields: types.map((type, index) => ({ name: `f${index}`, type })) },
})

test("a field's path is section and field, except for the root section; its type has no spaces or outer Option", () => {
  const sections = [
    { name: "id", fields: [field("address", "String")] },
    { name: "state", fields: [field("counts", "Option < Vec < u64 > >"), field("maybe", "Option < Option < i64 > >")] },
    { name: "price.fees", is_nested_struct: true, fields: [field("rate", "u16")] },
    { name: "root", fields: [field("snapshot", "Option < ore_sdk :: accounts :: Treasury >")] },
  ]
  expect(deriveOne({ sections })?.fields).toEqual([
    { path: "id.address", rust_type: "String", nullable: false, section: "id" },
    { path: "state.counts", rust_type: "Vec<u64>", nullable: true, section: "state" },
    { path: "state.maybe", rust_type: "Option<i64>", nullable: true, section: "state" },
    { path: "price.fees.rate", rust_type: "u16", nullable: false, section: "price.fees" },
    { path: "snapshot", rust_type: "ore_sdk::accounts::Treasury", nullable: true, section: "root" },
  ])
})

test("a type is nullable only by an Option around the whole of it, whatever is_optional says", () => {
  const fields = [
    field("a", "u8", { is_optional: true }),
    field("b", "Option < u8 >", { is_optional: false }),
    ...["Vec<Option<u8>>", "MyOption<u8>", "Option<A>::Out<B>"].map((type, n) => field(`c${n}`, type)),
  ]
  const nullable = deriveOne({ sections: [{ name: "s", fields }] })?.fields.filter((one) => one.nullable)
  expect(nullable?.map(({ path }) => path)).toEqual(["s.b"])
})

test("a field with emit false is omitted, and so are types that only it uses", () => {
  const ast = typedAst("u8", [struct("Hidden")])
  const fields = [field("a", "Hidden", { emit: false }), field("b", "u8", { emit: true })]
  const value = { ...ast, entities: [entity("Thing", { program_id: "P", sections: [{ name: "s", fields }] })] }
  expect(derive(value).entities[0]?.fields.map(({ path }) => path)).toEqual(["s.b"])
  expect(typesOf(value)).toEqual([])
})

test("primary keys are listed once each, in order", () => {
  const identity = { primary_keys: ["id.b", "id.a", "id.b", "id.a", "id.c"] }
  expect(deriveOne({ identity })?.primary_keys).toEqual(["id.b", "id.a", "id.c"])
})

test("every entity has a state and a list view, followed by custom ones with unchanged pipelines", () => {
  const pipeline = [{ Sort: { key: { segments: ["s", "a"], offsets: null }, order: "desc" } }, "First"]
  const views = [
    { id: "Thing/many", output: "Collection", pipeline },
    { id: "Thing/one", output: "Single", pipeline: [] },
    { id: "Thing/keyed", output: { Keyed: { key_field: { segments: ["s", "k"] } } } },
    { id: "Thing/keyed-by-name", output: "Keyed" },
    { id: "Thing/default" },
  ]
  const [key_field = null] = deriveOne({})?.primary_keys ?? []
  const plain = { key_field, sort: null, pipeline: [] }
  expect(deriveOne({ views })?.views).toEqual([
    { id: "Thing/state", mode: "state", needs_key: true, ...plain },
    { id: "Thing/list", mode: "list", needs_key: false, ...plain },
    { id: "Thing/many", mode: "list", needs_key: false, ...plain, sort: { field: "s.a", order: "desc" }, pipeline },
    { id: "Thing/one", mode: "state", needs_key: false, ...plain },
    { id: "Thing/keyed", mode: "state", needs_key: false, ...plain, key_field: "s.k" },
    { id: "Thing/keyed-by-name", mode: "state", needs_key: false, ...plain },
    { id: "Thing/default", mode: "list", needs_key: false, ...plain },
  ])
})

test("a view's records have the entity's key, or none with several primary keys; the first Sort is its order", () => {
  const sort = (...segments: string[]) => ({ Sort: { key: { segments } } })
  const views = [{ id: "Thing/sorted", pipeline: [{ Take: { count: 1 } }, sort("a", "b"), sort("c")] }]
  const of = (primary_keys: string[]) => deriveOne({ identity: { primary_keys }, views })?.views
  expect(of(["id.a", "id.a"])?.map(({ key_field }) => key_field)).toEqual(["id.a", "id.a", "id.a"])
  expect(of(["id.a", "id.b"])?.map(({ key_field }) => key_field)).toEqual([null, null, null])
  expect(of([])?.at(-1)).toMatchObject({ key_field: null, sort: { field: "a.b", order: "asc" } })
})

test("types are those that fields use, directly or not, sorted by name; unused and unknown ones are omitted", () => {
  const types = [
    struct("Zeta", { defined: "Beta" }, "u8"),
    struct("Beta", { option: { vec: { defined: { name: "Alpha" } } } }, { defined: "Nowhere" }),
    struct("Alpha", { array: ["u8", 16] }),
    struct("Unnamed"),
  ]
  expect(typesOf(typedAst("Option < Vec < sdk :: types :: Zeta > >", types))).toEqual([
    derived("Alpha", "[u8;16]"),
    derived("Beta", "Option<Vec<Alpha>>", "Nowhere"),
    derived("Zeta", "Beta", "u8"),
  ])
})

test("an enum lists its variants, and includes the types in their payloads", () => {
  const variants = [
    { name: "Off" },
    { name: "On", fields: [{ defined: "Meta" }] },
    { name: "Named", fields: [{ name: "x", type: { defined: "Flags" } }] },
  ]
  const types = [{ name: "State", type: { kind: "enum", variants } }, struct("Meta"), struct("Flags")]
  const found = typesOf(typedAst("State", types))
  expect(found.map(({ name }) => name)).toEqual(["Flags", "Meta", "State"])
  expect(found[2]).toEqual({ name: "State", kind: "enum", variants: ["Off", "On", "Named"] })
})

test("tuple structs, unit structs and both spellings of an alias are structs too", () => {
  const types = [
    { name: "Pair", type: { kind: "struct", fields: ["u8", { defined: "Unit" }] } },
    { name: "Unit", type: { kind: "struct" } },
    { name: "Now", type: { kind: "type", alias: { vec: { defined: "Before" } } } },
    { name: "Before", type: { kind: "alias", value: "i64" } },
  ]
  expect(typesOf(typedAst("(Pair, Now)", types))).toEqual([
    { name: "Before", kind: "struct", fields: [{ name: "0", type: "i64" }] },
    { name: "Now", kind: "struct", fields: [{ name: "0", type: "Vec<Before>" }] },
    {
      name: "Pair",
      kind: "struct",
      fields: [
        { name: "0", type: "u8" },
        { name: "1", type: "Unit" },
      ],
    },
    { name: "Unit", kind: "struct", fields: [] },
  ])
})

test("a chain of 20,000 types is followed to its end", () => {
  const types = Array.from({ length: 20_000 }, (_, index) => struct(`T${index}`, { defined: `T${index + 1}` }))
  expect(namesOf(typedAst("T0", types))).toHaveLength(20_000)
})

test("an entity looks first in its own program's IDL, and a type in the IDL that defines it", () => {
  const idls = [
    {
      name: "a",
      program_id: "A",
      types: [struct("Config", "u8"), struct("OfA", { defined: "Inner" }), struct("Inner", "u8")],
    },
    { name: "b", program_id: "B", types: [struct("Config", "u64"), struct("Inner", "u64")] },
  ]
  const root = (rust: string) => [{ name: "root", fields: [field("it", rust)] }]
  const of = (program_id: string, rust: string) =>
    typesOf(smallAst({ idls, entities: [entity("E", { program_id, sections: root(rust) })] }))
  expect(of("A", "x :: Config")).toEqual([derived("Config", "u8")])
  expect(of("B", "x :: Config")).toEqual([derived("Config", "u64")])
  expect(of("B", "OfA")[0]).toEqual(derived("Inner", "u8"))
  const inline = entity("E", {
    program_id: "B",
    sections: root("Config"),
    idl: { name: "own", types: [struct("Config", "bool")] },
  })
  expect(typesOf(smallAst({ idls, entities: [inline] }))).toEqual([derived("Config", "bool")])
})

test("a type that two IDLs define differently is listed once, as the first entity to use it means it", () => {
  const idls = [
    { name: "a", program_id: "A", types: [struct("Config", "u8")] },
    { name: "b", program_id: "B", types: [struct("Config", "u64")] },
  ]
  const sections = [{ name: "root", fields: [field("it", "Config")] }]
  const entities = [entity("First", { program_id: "B", sections }), entity("Second", { program_id: "A", sections })]
  expect(typesOf(smallAst({ idls, entities }))).toEqual([derived("Config", "u64")])
})

test("if an IDL names types by path, the whole path is looked up before the last segment", () => {
  const types = [struct("one::Config", "u8"), struct("two::Config", "u64")]
  expect(namesOf(typedAst("two :: Config", types))).toEqual(["two::Config"])
  expect(namesOf(typedAst("sdk :: Config", types))).toEqual(["one::Config"])
})

test("an account that an older IDL defines inline is a type; a definition among the types takes precedence", () => {
  const accounts = [
    { name: "Vault", fields: [{ name: "owner", type: "publicKey" }] },
    { name: "Both", fields: [] },
  ]
  const idls = [{ name: "p", program_id: "P", accounts, types: [struct("Both", "u8")] }]
  const sections = [{ name: "root", fields: [field("a", "Vault"), field("b", "Both")] }]
  expect(typesOf(smallAst({ idls, entities: [entity("E", { program_id: "P", sections })] }))).toEqual([
    derived("Both", "u8"),
    { name: "Vault", kind: "struct", fields: [{ name: "owner", type: "Pubkey" }] },
  ])
})
