import { lastSegment } from "@svc/common/rust-path"
import type { Ast, AstIdl, AstTypeDefinition } from "../ast/ast-shape.ts"
import { fieldSpelling, type NamedType, rustSpelling } from "../ast/idl-type.ts"
import { compactType, maxTypeDepth, namesIn, nestingOf } from "../ast/rust-type.ts"

type Struct = { readonly name: string; readonly kind: "struct"; readonly fields: readonly NamedType[] }
type Enum<V> = { readonly name: string; readonly kind: "enum"; readonly variants: readonly V[] }

export type SchemaType = Struct | Enum<string>

/** A variant of an enum, with its payload if there is one. */
export type Variant = { readonly name: string; readonly fields?: readonly NamedType[] }

/** A type with everything its IDL says. A schema leaves out payloads. */
export type ShapeType = Struct | Enum<Variant>

/** Counts steps of work: each lookup of a name, each member read, each text by its length and depth. */
export type Spend = (steps: number) => void

type Origin = { readonly name: string; readonly type: AstTypeDefinition; readonly own: Index }
type Index = ReadonlyMap<string, Origin>

/**
 * The IDL types that the emitted fields use, and the types these use in turn, by name. A field looks in its entity's
 * own IDL first, a type in the IDL it comes from. If two IDLs use one name for different types, the first one found
 * wins, because readers find types only by name.
 * A lookup searches at most four indexes, however many IDLs there are, because all IDLs share a combined index.
 */
export const deriveTypes = (ast: Ast, spend: Spend = () => {}): ShapeType[] => {
  const { all, byProgram } = indexAll(ast.idls ?? [], spend)
  const found = new Map<string, ShapeType>()
  for (const entity of ast.entities) {
    const scope = [
      ...(entity.idl ? [indexTypes(entity.idl, spend)] : []),
      ...(typeof entity.program_id === "string" ? [byProgram.get(entity.program_id) ?? none] : []),
      all,
    ]
    // A worklist instead of recursion: a chain of types can be long or circular.
    const emitted = entity.sections.flatMap(({ fields }) => fields.filter(({ emit }) => emit !== false))
    const pending = emitted.map(({ rust_type_name }) => ({ text: compactType(rust_type_name), own: none }))
    for (const { text, own } of pending) {
      // Whoever reads the type reads its text once for each level.
      spend((text.length * nestingOf(text)) / maxTypeDepth)
      for (const name of namesIn(text)) {
        spend(1)
        const origin = lookUp(name, own, scope)
        if (origin === undefined || found.has(origin.name)) continue
        const { type, contents } = define(origin.name, origin.type)
        spend(contents.length)
        found.set(origin.name, type)
        for (const content of contents) pending.push({ text: content, own: origin.own })
      }
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

const none: Index = new Map()

const lookUp = (name: string, own: Index, scope: readonly Index[]): Origin | undefined => {
  // The whole path first: an IDL uses one when two types share their last segment.
  for (const key of [name, lastSegment(name)]) {
    for (const index of [own, ...scope]) {
      const origin = index.get(key)
      if (origin !== undefined) return origin
    }
  }
  return undefined
}

/** The first definition of each name in one program, and in all IDLs. */
const indexAll = (idls: readonly AstIdl[], spend: Spend) => {
  const all = new Map<string, Origin>()
  const byProgram = new Map<string | undefined, Map<string, Origin>>()
  for (const idl of idls) {
    const ofProgram = byProgram.getOrInsert(idl.program_id ?? undefined, new Map<string, Origin>())
    for (const [key, origin] of indexTypes(idl, spend)) {
      for (const index of [all, ofProgram]) index.getOrInsert(key, origin)
    }
  }
  return { all, byProgram }
}

const indexTypes = (idl: AstIdl, spend: Spend): Index => {
  const index = new Map<string, Origin>()
  const add = (name: string, type: AstTypeDefinition) => {
    spend(1)
    const origin = { name, type, own: index }
    for (const key of [name, lastSegment(name)]) index.getOrInsert(key, origin)
  }
  for (const { name, type } of idl.types ?? []) add(name, type)
  // Older IDLs define an account's contents only in the account.
  for (const { name, fields } of idl.accounts ?? []) {
    if (fields && fields.length > 0) add(name, { kind: "struct", fields })
  }
  return index
}

const define = (name: string, definition: AstTypeDefinition): { type: ShapeType; contents: readonly string[] } => {
  if (definition.kind === "enum") {
    const variants = definition.variants.map((variant): Variant => {
      const fields = spelled(variant.fields)
      return { name: variant.name, ...(fields.length === 0 ? {} : { fields }) }
    })
    const contents = variants.flatMap(({ fields = [] }) => fields.map(({ type }) => type))
    return { type: { name, kind: "enum", variants }, contents }
  }
  // An alias becomes a struct with one unnamed field, which has the same layout.
  const fields =
    definition.kind === "struct"
      ? spelled(definition.fields)
      : [{ name: "0", type: rustSpelling(definition.kind === "type" ? definition.alias : definition.value) }]
  return { type: { name, kind: "struct", fields }, contents: fields.map(({ type }) => type) }
}

const spelled = (fields: readonly unknown[] | null | undefined): NamedType[] =>
  (fields ?? []).map((field, position) => fieldSpelling(field, position))
