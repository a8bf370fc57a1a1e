import { isDeepStrictEqual } from "node:util"
import type { SchemaEntity, SchemaField, SchemaView, Shape } from "./derive-schema.ts"
import type { ShapeType, Variant } from "./derive-types.ts"
import type { NamedType } from "../ast/idl-type.ts"
import { optionContent } from "../ast/rust-type.ts"

type Part = "entity" | "view" | "field" | "type" | "type-field" | "variant"
type Kind = `${Part}-${"added" | "removed" | "changed"}` | "primary-keys-changed" | "stack-changed"

export type Change = {
  readonly kind: Kind
  /** `Entity`, `Entity.field.path`, a view's id, `Type`, `Type.member`. */
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  readonly breaking: boolean
  readonly text: string
}

type Verdict = "none" | "compatible" | "breaking"
type Bump = "none" | "patch" | "minor" | "major"
export type SchemaDiff = { readonly verdict: Verdict; readonly bump: Bump; readonly changes: readonly Change[] }

type Named<T> = ReadonlyMap<string, { readonly path: string; readonly value: T }>

/** How a new version of a stack affects its readers. Order matters only in primary keys. */
export const diffSchemas = (before: Shape, after: Shape): SchemaDiff => {
  const changes: Change[] = []
  const note = (kind: Kind, path: string, values: Pick<Change, "before" | "after">, breaking: boolean): void => {
    changes.push({ kind, path, ...values, breaking, text: changeText(kind, path, values) })
  }
  /** Records what was added, removed and changed, and returns the pairs that are in both. */
  const compare = <T>(part: Part, old: Named<T>, now: Named<T>, breaks: (was: T, is: T) => boolean) => {
    const both: { path: string; was: T; is: T }[] = []
    for (const [key, { path, value }] of old) {
      const next = now.get(key)
      if (next === undefined) note(`${part}-removed`, path, { before: value }, true)
      else if (part === "entity" || part === "type") both.push({ path, was: value, is: next.value })
      else if (!same(value, next.value)) {
        note(`${part}-changed`, path, { before: value, after: next.value }, breaks(value, next.value))
      }
    }
    for (const [key, { path, value }] of now) {
      if (!old.has(key)) note(`${part}-added`, path, { after: value }, false)
    }
    return both
  }

  if (before.stack_name !== after.stack_name) {
    note("stack-changed", "stack_name", { before: before.stack_name, after: after.stack_name }, false)
  }
  const entities = compare("entity", byName(before.entities), byName(after.entities), () => false)
  for (const { path, was, is } of entities) {
    compare("field", fieldsOf(was), fieldsOf(is), fieldBreaks)
    if (!same(was.primary_keys, is.primary_keys)) {
      note("primary-keys-changed", path, { before: was.primary_keys, after: is.primary_keys }, true)
    }
  }
  // View ids are unique in the whole stack. Views of added and removed entities are reported with the entity.
  const stayed = new Set(entities.map(({ path }) => path))
  compare("view", viewsOf(before, stayed), viewsOf(after, stayed), (was, is) => {
    return was.mode !== is.mode || was.entity !== is.entity || was.key_field !== is.key_field
  })
  for (const { path, was, is } of compare("type", byName(before.types), byName(after.types), () => false)) {
    if (was.kind === "struct" && is.kind === "struct") {
      compare("type-field", members(path, was.fields), members(path, is.fields), typeBreaks)
    } else if (was.kind === "enum" && is.kind === "enum") {
      compare("variant", members(path, was.variants), members(path, is.variants), variantBreaks)
    } else note("type-changed", path, { before: was, after: is }, true)
  }
  changes.sort((a, b) => order(a.path, b.path) || order(a.kind, b.kind))
  return { ...verdictOf(changes), changes }
}

const verdictOf = (changes: readonly Change[]): Pick<SchemaDiff, "verdict" | "bump"> => {
  if (changes.length === 0) return { verdict: "none", bump: "none" }
  if (changes.some(({ breaking }) => breaking)) return { verdict: "breaking", bump: "major" }
  return { verdict: "compatible", bump: changes.some(({ kind }) => kind.endsWith("-added")) ? "minor" : "patch" }
}

const fieldBreaks = (was: SchemaField, is: SchemaField): boolean =>
  was.rust_type !== is.rust_type || (!was.nullable && is.nullable)

/** An outer Option marks a nullable member. Losing it breaks no reader. */
const typeBreaks = (was: NamedType, is: NamedType): boolean =>
  was.type !== is.type && optionContent(was.type) !== is.type

/** Named payloads can grow. Positional payloads can't, and adding or removing a payload changes how it is read. */
const variantBreaks = ({ fields: was }: Variant, { fields: is }: Variant): boolean => {
  if (was === undefined || is === undefined) return true
  if (was.length !== is.length && is.some(({ name }) => /^\d+$/.test(name))) return true
  const now = members("", is)
  return [...members("", was)].some(([key, { value }]) => {
    const next = now.get(key)
    return next === undefined || typeBreaks(value, next.value)
  })
}

// The order of members doesn't matter: two spellings of a pipeline can mean the same.
const same = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a, b, { skipPrototype: true })

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const byName = <T extends SchemaEntity | ShapeType>(all: readonly T[]): Named<T> =>
  new Map(all.map((value) => [value.name, { path: value.name, value }]))

const fieldsOf = ({ name, fields }: SchemaEntity): Named<SchemaField> =>
  new Map(fields.map((value) => [value.path, { path: `${name}.${value.path}`, value }]))

const viewsOf = ({ entities }: Shape, stayed: ReadonlySet<string>): Named<SchemaView & { entity: string }> =>
  new Map(
    entities
      .filter(({ name }) => stayed.has(name))
      .flatMap(({ name, views }) =>
        views.map((view) => [view.id, { path: view.id, value: { ...view, entity: name } }]),
      ),
  )

/** Members of a type. If an IDL repeats a name, members with the same name are compared in order. */
const members = <T extends { name: string }>(type: string, all: readonly T[]): Named<T> => {
  const seen = new Map<string, number>()
  return new Map(
    all.map((value) => {
      const nth = (seen.get(value.name) ?? 0) + 1
      seen.set(value.name, nth)
      return [`${nth} ${value.name}`, { path: `${type}.${value.name}`, value }]
    }),
  )
}

const maxListed = 5

/** The first breaking changes, in one line. */
export const breakingText = (changes: readonly { readonly breaking: boolean; readonly text: string }[]): string => {
  const texts = changes.filter(({ breaking }) => breaking).map(({ text }) => text)
  const more = texts.length > maxListed ? `, and ${texts.length - maxListed} more` : ""
  return texts.slice(0, maxListed).join("; ") + more
}

/** A short form of a field's Rust type, a variant's payload or a view's mode. */
const brief = (value: unknown): string => {
  if (typeof value === "string") return value
  if (Array.isArray(value)) return value.join(", ")
  const { rust_type, nullable, type, mode, kind, fields } = value as Readonly<Record<string, unknown>>
  if (typeof rust_type === "string") return nullable === true ? `Option<${rust_type}>` : rust_type
  if (typeof type === "string") return type
  if (typeof mode === "string") return mode
  if (typeof kind === "string") return kind
  if (fields === undefined) return "no payload"
  return `(${(fields as readonly NamedType[]).map((field) => `${field.name}: ${field.type}`).join(", ")})`
}

/** One line: what was at `path` before, and what is there now. */
const changeText = (kind: Kind, path: string, { before, after }: Pick<Change, "before" | "after">): string => {
  const cut = kind.lastIndexOf("-")
  const part = kind.slice(0, cut)
  const verb = kind.slice(cut + 1)
  if (part === "stack") return `stack_name: ${String(before)} → ${String(after)}`
  if (part === "primary-keys") return `primary keys of ${path}: ${brief(before)} → ${brief(after)}`
  const what = `${part === "type-field" ? "field" : part} ${path}`
  if (verb === "removed") return `${what} removed`
  if (verb === "added") return part.endsWith("field") ? `${what} added: ${brief(after)}` : `${what} added`
  const was = brief(before)
  const is = brief(after)
  if (was !== is) return `${what}: ${was} → ${is}`
  if (part !== "view") return `${what} changed`
  const [key, next] = [before, after].map((view) => (view as SchemaView).key_field ?? "several fields")
  return key === next ? `${what}: another pipeline` : `${what}: key ${key} → ${next}`
}
