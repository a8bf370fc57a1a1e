import canonicalize from "canonicalize"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { deriveShape, type Shape } from "../../src/registry/schema/derive-schema.ts"
import { type Change, diffSchemas } from "../../src/registry/schema/diff.ts"
import { parseAst } from "../../src/registry/ast/parse-ast.ts"
import { field, thing, typedAst } from "./small-ast.ts"
import { shape } from "./shapes.ts"

// Tests take shapes apart by hand; what they find is compared, not trusted.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const bag = (items: readonly Loose[]): string[] => items.map((item) => canonicalize(item) ?? "").sort()

/** A shape as text that does not hang on any order but that of primary keys. */
const canonical = ({ stack_name, entities, types }: Shape) => [
  stack_name,
  bag(entities.map((one) => ({ ...one, fields: bag(one.fields), views: bag(one.views) }))),
  bag(
    types.map((type: Loose) =>
      type.kind === "struct" ? { ...type, fields: bag(type.fields) } : { ...type, variants: bag(type.variants) },
    ),
  ),
]

/** Does to a shape what the changes say, and nothing else. */
const apply = (start: Shape, changes: readonly Change[]): Shape => {
  const result: Loose = structuredClone(start)
  const put = (list: Loose[], before: Loose, after: Loose) => {
    const at = before === undefined ? list.length : list.findIndex((item) => bag([item])[0] === bag([before])[0])
    expect(at).toBeGreaterThanOrEqual(0)
    list.splice(at, before === undefined ? 0 : 1, ...(after === undefined ? [] : [after]))
  }
  const owner = (list: Loose[], path: string) => list.find(({ name }) => path === name || path.startsWith(`${name}.`))
  // Whole entities and types go first and come last, so that a view never stands in two of them.
  for (const { kind, path, before, after } of changes as readonly Loose[]) {
    const [part] = /^(stack|primary-keys|type-field|[a-z]+)/.exec(kind) ?? []
    if (part === "stack") result.stack_name = after
    else if (part === "entity") put(result.entities, before, after)
    else if (part === "type") put(result.types, before, after)
    else if (part === "primary-keys") owner(result.entities, path).primary_keys = after
    else if (part === "field") put(owner(result.entities, path).fields, before, after)
    else if (part === "type-field") put(owner(result.types, path).fields, before, after)
    else if (part === "variant") put(owner(result.types, path).variants, before, after)
    else {
      const views = (given: Loose) => result.entities.find(({ name }: Loose) => name === given.entity).views
      const bare = (given: Loose) => ({ ...given, entity: undefined })
      if (before !== undefined) put(views(before), bare(before), undefined)
      if (after !== undefined) put(views(after), undefined, bare(after))
    }
  }
  return result
}

describe("the difference of two schemas", () => {
  test("a schema doesn't differ from itself, in whatever order it is written", () => {
    fc.assert(
      fc.property(shape, (one) => {
        const turned = { ...one, entities: one.entities.toReversed(), types: one.types.toReversed() }
        for (const other of [one, turned, structuredClone(one)]) {
          expect(diffSchemas(one, other)).toEqual({ verdict: "none", bump: "none", changes: [] })
        }
      }),
    )
  })

  test("the changes, applied to one schema, give the other", () => {
    fc.assert(
      fc.property(shape, shape, (one, other) => {
        expect(canonical(apply(one, diffSchemas(one, other).changes))).toEqual(canonical(other))
      }),
      { numRuns: 1000 },
    )
  })

  test("the verdict is the worst change, the bump follows from it, and every change has a line of text", () => {
    fc.assert(
      fc.property(shape, shape, (one, other) => {
        const { verdict, bump, changes } = diffSchemas(one, other)
        const breaking = changes.some((change) => change.breaking)
        expect(verdict).toBe(changes.length === 0 ? "none" : breaking ? "breaking" : "compatible")
        const added = changes.some(({ kind }) => kind.endsWith("-added"))
        expect(bump).toBe(changes.length === 0 ? "none" : breaking ? "major" : added ? "minor" : "patch")
        for (const { kind, path, text, breaking: breaks } of changes) {
          if (kind.endsWith("-removed") || kind === "primary-keys-changed") expect(breaks).toBe(true)
          if (kind.endsWith("-added")) expect(breaks).toBe(false)
          expect(text).toMatch(/^[^\n]+$/)
          expect(text).toContain(path)
        }
      }),
    )
  })
})

const of = (rest: object) => deriveShape(parseAst(thing(rest)))
const withFields = (...fields: object[]) => of({ sections: [{ name: "id", fields }] })
const typed = (type: object) => deriveShape(parseAst(typedAst("T", [{ name: "T", type }])))
const kinds = (before: Shape, after: Shape) =>
  diffSchemas(before, after).changes.map(({ kind, path, breaking }) => [kind, path, breaking])

describe("what breaks a reader", () => {
  test("another key of a view breaks; another order doesn't", () => {
    const key = (name: string) => ({ segments: ["id", name] })
    const keyed = (name: string) => ({ id: "Thing/by", output: { Keyed: { key_field: key(name) } } })
    const sorted = (name: string) => ({ id: "Thing/by", pipeline: [{ Sort: { key: key(name), order: "desc" } }] })
    const withView = (view: object) => of({ views: [view] })
    const { changes } = diffSchemas(withView(keyed("a")), withView(keyed("b")))
    expect(changes).toMatchObject([
      { kind: "view-changed", path: "Thing/by", breaking: true, text: "view Thing/by: key id.a → id.b" },
    ])
    expect(kinds(withView(sorted("a")), withView(sorted("b")))).toEqual([["view-changed", "Thing/by", false]])
  })

  test("another type, or a new null, breaks; a null that can no longer occur doesn't", () => {
    const u64 = withFields(field("n", "u64"))
    const option = withFields(field("n", "Option < u64 >"))
    expect(kinds(u64, withFields(field("n", "u32")))).toEqual([["field-changed", "Thing.id.n", true]])
    expect(kinds(u64, option)).toEqual([["field-changed", "Thing.id.n", true]])
    expect(kinds(option, u64)).toEqual([["field-changed", "Thing.id.n", false]])
    expect(diffSchemas(option, u64).bump).toBe("patch")
    expect(diffSchemas(u64, option).changes[0]?.text).toBe("field Thing.id.n: u64 → Option<u64>")
  })

  test("primary keys and a view's mode break, its pipeline doesn't", () => {
    const keyed = (...primary_keys: string[]) => of({ identity: { primary_keys } })
    expect(kinds(keyed("a", "b"), keyed("b", "a"))).toEqual([["primary-keys-changed", "Thing", true]])
    const viewed = (output: string, pipeline: unknown[]) => of({ views: [{ id: "Thing/best", output, pipeline }] })
    expect(kinds(viewed("Collection", []), viewed("Single", []))).toEqual([["view-changed", "Thing/best", true]])
    expect(kinds(viewed("Single", []), viewed("Single", ["x"]))).toEqual([["view-changed", "Thing/best", false]])
  })

  test("a type's removed or retyped members break, an Option counts as null, a struct isn't an enum", () => {
    const struct = (...fields: object[]) => typed({ kind: "struct", fields })
    const a = { name: "a", type: "u8" }
    const maybe = { name: "a", type: { option: "u8" } }
    expect(kinds(struct(a), struct())).toEqual([["type-field-removed", "T.a", true]])
    expect(kinds(struct(), struct(a))).toEqual([["type-field-added", "T.a", false]])
    expect(kinds(struct(a), struct(maybe))).toEqual([["type-field-changed", "T.a", true]])
    expect(kinds(struct(maybe), struct(a))).toEqual([["type-field-changed", "T.a", false]])
    const enumOf = (...variants: object[]) => typed({ kind: "enum", variants })
    expect(kinds(struct(a), enumOf({ name: "a" }))).toEqual([["type-changed", "T", true]])
    const [bare, tuple] = [{ name: "A" }, { name: "A", fields: ["u8"] }]
    const [small, large] = [[a], [a, { name: "b", type: "u8" }]].map((fields) => enumOf({ name: "A", fields }))
    expect(kinds(enumOf(bare), enumOf(bare, { name: "B" }))).toEqual([["variant-added", "T.B", false]])
    expect(kinds(enumOf(bare), enumOf(tuple))).toEqual([["variant-changed", "T.A", true]])
    expect(small && large && kinds(small, large)).toEqual([["variant-changed", "T.A", false]])
  })
})
