import type { Ast, AstEntity, AstIdl, AstTypeDefinition } from "./ast-shape.ts"
import { fieldSpelling, type NamedType, rustSpelling } from "./idl-type.ts"
import { compactType, lastSegment, namesIn } from "./rust-type.ts"

type Struct = { readonly name: string; readonly kind: "struct"; readonly fields: readonly NamedType[] }
type Enum<V> = { readonly name: string; readonly kind: "enum"; readonly variants: readonly V[] }

export type SchemaType = Struct | Enum<string>

/** A variant of an enum, with its payload when it carries one. */
export type Variant = { readonly name: string; readonly fields?: readonly NamedType[] }

/** A type with all that its IDL says of it: a schema leaves payloads out. */
export type ShapeType = Struct | Enum<Variant>

type Definition = {
  readonly type: ShapeType
  /** The Rust spelling of everything inside, the payloads of an enum's variants too. */
  readonly contents: readonly string[]
}

type Index = ReadonlyMap<string, Definition>

/**
 * The IDL types that the emitted fields name, and all that these name in turn, by name. A field looks into its entity's
 * own IDL first, a type into the IDL that it comes from. Where two IDLs mean different things by one name, the first
 * that was named has it: a reader finds types by name alone.
 */
export const deriveTypes = (ast: Ast): ShapeType[] => {
  const indexes = new Map((ast.idls ?? []).map((idl) => [idl, indexTypes(idl)]))
  const found = new Map<string, ShapeType>()
  for (const entity of ast.entities) {
    const all = [...ownIdls(entity, indexes), ...indexes.values()]
    // A worklist, not recursion: a chain of types may be long, and may be a circle.
    const pending = emittedTypes(entity).map((text) => ({ text, scope: all }))
    for (const { text, scope } of pending) {
      for (const name of namesIn(text)) {
        const hit = lookUp(name, scope)
        if (hit === undefined || found.has(hit.definition.type.name)) continue
        found.set(hit.definition.type.name, hit.definition.type)
        const inner = [hit.index, ...all]
        for (const content of hit.definition.contents) pending.push({ text: content, scope: inner })
      }
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

const ownIdls = (entity: AstEntity, indexes: ReadonlyMap<AstIdl, Index>): Index[] => {
  const own = entity.idl ? [indexTypes(entity.idl)] : []
  if (typeof entity.program_id !== "string") return own
  for (const [idl, index] of indexes) if (idl.program_id === entity.program_id) own.push(index)
  return own
}

const emittedTypes = (entity: AstEntity): string[] => {
  return entity.sections.flatMap(({ fields }) =>
    fields.filter(({ emit }) => emit !== false).map(({ rust_type_name }) => compactType(rust_type_name)),
  )
}

const lookUp = (name: string, scope: readonly Index[]): { definition: Definition; index: Index } | undefined => {
  // The whole path first: an IDL writes one where two of its types share their last segment.
  for (const key of [name, lastSegment(name)]) {
    for (const index of scope) {
      const definition = index.get(key)
      if (definition !== undefined) return { definition, index }
    }
  }
  return undefined
}

const indexTypes = (idl: AstIdl): Index => {
  const index = new Map<string, Definition>()
  const add = (name: string, definition: Definition) => {
    for (const key of [name, lastSegment(name)]) if (!index.has(key)) index.set(key, definition)
  }
  for (const { name, type } of idl.types ?? []) add(name, define(name, type))
  // Older IDLs describe an account's contents with the account alone.
  for (const { name, fields } of idl.accounts ?? []) {
    if (fields && fields.length > 0) add(name, define(name, { kind: "struct", fields }))
  }
  return index
}

const define = (name: string, definition: AstTypeDefinition): Definition => {
  if (definition.kind === "enum") {
    const variants = definition.variants.map((variant): Variant => {
      const fields = (variant.fields ?? []).map((field, position) => fieldSpelling(field, position))
      return { name: variant.name, ...(fields.length === 0 ? {} : { fields }) }
    })
    const contents = variants.flatMap(({ fields = [] }) => fields.map(({ type }) => type))
    return { type: { name, kind: "enum", variants }, contents }
  }
  const fields = structFields(definition)
  return { type: { name, kind: "struct", fields }, contents: fields.map(({ type }) => type) }
}

const structFields = (definition: Exclude<AstTypeDefinition, { kind: "enum" }>): NamedType[] => {
  if (definition.kind === "struct") {
    return (definition.fields ?? []).map((field, position) => fieldSpelling(field, position))
  }
  // An alias reads as a struct of one unnamed field, which is how it is laid out.
  return [{ name: "0", type: rustSpelling(definition.kind === "type" ? definition.alias : definition.value) }]
}
