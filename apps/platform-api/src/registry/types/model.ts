// The contents of a typed module in any language: declarations with members, each with a unique name.
import type { SchemaView, Shape } from "../schema/derive-schema.ts"
import type { Variant } from "../schema/derive-types.ts"
import type { NamedType } from "../ast/idl-type.ts"
import { lastSegment } from "@svc/common/rust-path"
import { nullable, type TypeNode, typeNode } from "./type-node.ts"

export type Member = { readonly key: string; readonly value: TypeNode | Nested }
export type Nested = { readonly kind: "object"; readonly members: readonly Member[] }

/** A variant of an enum, with its payload if there is one. */
type EnumVariant = Pick<Member, "key"> & Partial<Member>

export type Declaration =
  | { readonly kind: "entity" | "struct"; readonly name: string; readonly members: readonly Member[] }
  | { readonly kind: "enum"; readonly name: string; readonly members: readonly EnumVariant[] }

export type Model = {
  readonly declarations: readonly Declaration[]
  /** Each with the index of its entity. */
  readonly views: readonly (SchemaView & { readonly entity: number })[]
  /** The index of the declaration for a type's name. */
  readonly named: ReadonlyMap<string, number>
}

/** Converts a shape to declarations: entities first, with fields nested at each dot, then types. */
export const modelOf = (shape: Shape): Model => {
  const named = new Map<string, number>()
  for (const [index, { name }] of shape.types.entries()) {
    for (const key of [name, lastSegment(name)]) if (!named.has(key)) named.set(key, shape.entities.length + index)
  }
  const known = new Set(named.keys())
  const nodes = new Map<string, TypeNode>()
  const node = (text: string): TypeNode => nodes.getOrInsertComputed(text, () => typeNode(text, known))
  const fieldsOf = (fields: readonly NamedType[]): Member[] =>
    distinct(fields.map(({ name, type }) => ({ key: name, value: node(type) })))

  const variantOf = ({ name: key, fields }: Variant): EnumVariant => {
    if (fields === undefined) return { key }
    if (!fields.every(({ name }, index) => name === String(index))) {
      return { key, value: { kind: "object", members: fieldsOf(fields) } }
    }
    const items = fields.map(({ type }) => node(type))
    const [only] = items
    return { key, value: only !== undefined && items.length === 1 ? only : { kind: "tuple", items } }
  }

  return {
    declarations: [
      ...shape.entities.map(({ name, fields }): Declaration => ({
        kind: "entity",
        name,
        members: nest(
          fields.map(({ path, rust_type, nullable: maybe }) => {
            const value = node(rust_type)
            return { way: path.split("."), value: maybe ? nullable(value) : value }
          }),
        ),
      })),
      ...shape.types.map((type): Declaration =>
        type.kind === "struct"
          ? { kind: "struct", name: type.name, members: fieldsOf(type.fields) }
          : { kind: "enum", name: type.name, members: type.variants.map(variantOf) },
      ),
    ],
    views: shape.entities.flatMap(({ views }, entity) => views.map((view) => ({ ...view, entity }))),
    named,
  }
}

type Leaf = { readonly way: readonly string[]; readonly value: TypeNode }

/** Builds members from paths. If a path is also the beginning of another, the section gets the name. */
const nest = (leaves: readonly Leaf[]): Member[] => {
  const groups = Map.groupBy(leaves, ({ way: [key = ""] }) => key)
  return distinct(
    [...groups].flatMap(([key, group]): Member[] => {
      const inner = group.flatMap(({ way: [, ...way], value }) => (way.length > 0 ? [{ way, value }] : []))
      const own = group.filter(({ way }) => way.length === 1).map(({ value }): Member => ({ key, value }))
      return inner.length === 0 ? own : own.toSpliced(0, 0, { key, value: { kind: "object", members: nest(inner) } })
    }),
  )
}

/** Makes keys unique: the second one gets `_2`. */
const distinct = (members: readonly Member[]): Member[] => {
  const take = takeNames()
  // Original names come first, so that no suffix takes one.
  const own = new Set(members.map(({ key }) => key))
  return members.map(({ key, value }) => {
    own.delete(key)
    return { key: take(key, own), value }
  })
}

/** Returns each requested name once, with a number appended if it is taken. */
export const takeNames = (
  reserved: Iterable<string> = [],
): ((name: string, avoided?: ReadonlySet<string>) => string) => {
  const taken = new Set(reserved)
  // The next number to try: an AST can give thousands of types one name.
  const numbers = new Map<string, number>()
  return (name, avoided) => {
    let free = name
    let number = numbers.get(name) ?? 2
    while (taken.has(free) || avoided?.has(free) === true) free = `${name}_${number++}`
    numbers.set(name, number)
    taken.add(free)
    return free
  }
}

export const identifier = (text: string): string => {
  const plain = text.normalize("NFKD").replaceAll(/[^A-Za-z0-9_]+/g, "_")
  return /^[A-Za-z]/.test(plain) ? plain : `T${plain}`
}
