import fc from "fast-check"
import { anyCharacter } from "@svc/testing"
import type { Shape } from "../../src/registry/schema/derive-schema.ts"

const oneOf = fc.constantFrom

/** Names that any two shapes are likely to share. */
const shared = {
  stack: ["First", "Second"],
  entity: ["One", "Two", "Three"],
  type: ["Alpha", "Beta", "Gamma"],
  member: ["a", "b", "0", "1"],
  variant: ["Red", "Green", "Blue"],
  path: ["a", "s.a", "s.b", "t.a"],
  view: ["v/one", "v/two", "v/three"],
} as const
type Kind = keyof typeof shared

/** Shapes whose names are made by `names`, and whose types by `rustType`. */
const shapesOf = (
  names: (kind: Kind) => fc.Arbitrary<string>,
  rustType: fc.Arbitrary<string>,
  most: number,
): fc.Arbitrary<Shape> => {
  const path = names("path")
  const some = <T>(item: fc.Arbitrary<T>, key: (value: T) => string, minLength = 0) =>
    fc.uniqueArray(item, { minLength, maxLength: most, selector: key })
  const members = (minLength: number) =>
    fc.array(fc.record({ name: names("member"), type: rustType }), { minLength, maxLength: 3 })
  const anyVariant = fc.record({ name: names("variant"), fields: members(1) }, { requiredKeys: ["name"] })
  const variants = fc.array(anyVariant, { maxLength: 4 })
  const anyType = fc.oneof(
    fc.record({ name: names("type"), kind: fc.constant("struct" as const), fields: members(0) }),
    fc.record({ name: names("type"), kind: fc.constant("enum" as const), variants }),
  )
  const anyField = fc.record({ path, rust_type: rustType, nullable: fc.boolean(), section: oneOf("root", "s") })
  const steps = oneOf<unknown>({ filter: { a: 1, b: 2 } }, { filter: { b: 2, a: 1 } }, "sort")
  const anyView = fc.record({
    id: names("view"),
    mode: oneOf("state" as const, "list" as const),
    needs_key: fc.boolean(),
    key_field: fc.option(path),
    sort: fc.constant(null),
    pipeline: fc.array(steps, { maxLength: 2 }),
  })
  const anyEntity = fc.record({
    name: names("entity"),
    primary_keys: fc.uniqueArray(oneOf("id.a", "id.b"), { maxLength: 2 }),
    fields: some(anyField, (one) => one.path),
    views: some(anyView, (one) => one.id),
  })
  const entities = some(anyEntity, ({ name }) => name, 1)
  const types = some(anyType, ({ name }) => name)
  return fc.record({ stack_name: names("stack"), entities, types }).map((made) => {
    // A view's id is taken once in a stack.
    const taken = new Set<string>()
    const free = ({ id }: { id: string }) => !taken.has(id) && taken.add(id)
    return Object.assign(made, {
      entities: made.entities.map((one) => Object.assign(one, { views: one.views.filter(free) })),
    })
  })
}

/** Shapes so alike that any two of them share most of their names. */
export const shape = shapesOf(
  (kind) => oneOf(...shared[kind]),
  oneOf("u64", "String", "Vec<u8>", "Option<u64>", "Option<String>", "Alpha", "Vec<Beta>"),
  4,
)

// Texts that would be something else than a text, were they not quoted.
const hostile = oneOf(
  `"; export const PWNED = 1; "`,
  `*/ export const PWNED = 1 /*`,
  `\n\nPWNED = 1\n#`,
  `"""\nPWNED = 1\n"""`,
  "${PWNED}",
  "\u2028PWNED\u2029",
  "\\",
  '\\"',
  "</script>",
  "\u202eevil",
  "x\r\ny",
  "🦊",
)
const words = oneOf(..."__proto__ constructor class string None a.b 0 Promise Any Literal Views ViewId".split(" "))
const alike = oneOf("Alpha", "alpha", "Älpha", "A b", "A_b")
const anything = fc.oneof(
  hostile,
  words,
  alike,
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 12 }).map((text) => text.toWellFormed()),
)

/** Shapes whose names are anything at all. */
export const hostileShape = shapesOf(
  () => anything,
  fc.oneof(
    oneOf("u64", "Option<u8>", "Vec<u8>", "HashMap<String,u64>", "(u8,Option<i64>)", "[Alpha;2]", "Nowhere<T>"),
    oneOf("Alpha", "alpha", "x::Alpha", "class", "string", "Views").map((name) => `Vec<${name}>`),
  ),
  6,
)

/** The value with the member that the numbers lead to replaced. */
export const replaced = (value: unknown, way: readonly number[], to: unknown): unknown => {
  const [turn, ...rest] = way
  if (typeof value !== "object" || value === null || turn === undefined) return to
  const keys = Object.keys(value)
  const key = keys[turn % Math.max(keys.length, 1)]
  if (key === undefined) return to
  const member = replaced((value as Record<string, unknown>)[key], rest, to)
  return Array.isArray(value) ? value.with(Number(key), member) : { ...value, [key]: member }
}
