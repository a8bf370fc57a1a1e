import fc from "fast-check"
import type { Shape } from "../../src/registry/schema/derive-schema.ts"

const oneOf = fc.constantFrom
const distinct = <T>(item: fc.Arbitrary<T>, key: (value: T) => string) =>
  fc.uniqueArray(item, { maxLength: 4, selector: key })

const rustType = oneOf("u64", "String", "Vec<u8>", "Option<u64>", "Option<String>", "Alpha", "Vec<Beta>")
const names = oneOf("a", "b", "c")

const namedTypes = fc.array(fc.record({ name: names, type: rustType }), { maxLength: 3 })
const variant = fc.record(
  {
    name: oneOf("Red", "Green", "Blue"),
    fields: fc.array(fc.record({ name: oneOf("x", "0", "1"), type: rustType }), { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ["name"] },
)
const type = fc.oneof(
  fc.record({ name: oneOf("Alpha", "Beta", "Gamma"), kind: fc.constant("struct" as const), fields: namedTypes }),
  fc.record({
    name: oneOf("Alpha", "Beta", "Gamma"),
    kind: fc.constant("enum" as const),
    variants: fc.array(variant, { maxLength: 3 }),
  }),
)
const entity = fc.record({
  name: oneOf("One", "Two", "Three"),
  primary_keys: fc.uniqueArray(oneOf("id.a", "id.b"), { maxLength: 2 }),
  fields: distinct(
    fc.record({
      path: oneOf("a", "s.a", "s.b", "t.a"),
      rust_type: rustType,
      nullable: fc.boolean(),
      section: oneOf("root", "s"),
    }),
    ({ path }) => path,
  ),
  views: distinct(
    fc.record({
      id: oneOf("v/one", "v/two", "v/three"),
      mode: oneOf("state" as const, "list" as const),
      needs_key: fc.boolean(),
      key_field: oneOf("id.a", "id.b", null),
      sort: fc.constant(null),
      pipeline: fc.array(oneOf<unknown>({ filter: { a: 1, b: 2 } }, { filter: { b: 2, a: 1 } }, "sort"), {
        maxLength: 2,
      }),
    }),
    ({ id }) => id,
  ),
})

/** Shapes so alike that any two of them share most of their names. */
export const shape: fc.Arbitrary<Shape> = fc
  .record({
    stack_name: oneOf("First", "Second"),
    entities: distinct(entity, ({ name }) => name),
    types: distinct(type, ({ name }) => name),
  })
  .map((made) => {
    // A view's id is taken once in a stack.
    const taken = new Set<string>()
    const free = ({ id }: { id: string }) => !taken.has(id) && taken.add(id)
    return Object.assign(made, {
      entities: made.entities.map((one) => Object.assign(one, { views: one.views.filter(free) })),
    })
  })
