import type { Ast, AstEntity, AstIdl, AstTypeDefinition } from "../ast/ast-shape.ts"
import { fieldSpelling, type NamedType, rustSpelling } from "../ast/idl-type.ts"
import { compactType, lastSegment, namesIn } from "../ast/rust-type.ts"

type Struct = { readonly name: string; readonly kind: "struct"; readonly fields: readonly NamedType[] }
type Enum<V> = { readonly name: string; readonly kind: "enum"; readonly variants: readonly V[] }

export type SchemaType = Struct | Enum<string>

/** A variant of an enum, with its payload when it carries one. */
export type Variant = { readonly name: string; readonly fields?: readonly NamedType[] }

/** A type with all that its IDL says of it: a schema leaves payloads out. */
export type ShapeType = Struct | Enum<Variant>

/** Told of each step of the work that is done: each name looked up, each member read. */
export type Spend = (steps: number) => void

type Origin = { readonly name: string; readonly type: AstTypeDefinition; readonly own: Index }
type Index = ReadonlyMap<string, Origin>

/**
 * The IDL types that the emitted fields name, and all that these name in turn, by name. A field looks into its entity's
 * own IDL first, a type into the IDL that it comes from. Where two IDLs mean different things by one name, the first
 * that was named has it: a reader finds types by name alone.
 *
 * However many IDLs there are, a name is looked for in four indexes at most: those of all IDLs are put together once.
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
    // A worklist, not recursion: a chain of types may be long, and may be a circle.
    const pending = emittedTypes(entity).map((text) => ({ text, own: none }))
    for (const { text, own } of pending) {
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

const emittedTypes = (entity: AstEntity): string[] => {
  return entity.sections.flatMap(({ fields }) =>
    fields.filter(({ emit }) => emit !== false).map(({ rust_type_name }) => compactType(rust_type_name)),
  )
}

const lookUp = (name: string, own: Index, scope: readonly Index[]): Origin | undefined => {
  // The whole path first: an IDL writes one where two of its types share their last segment.
  for (const key of [name, lastSegment(name)]) {
    const inOwn = own.get(key)
    if (inOwn !== undefined) return inOwn
    for (const index of scope) {
      const origin = index.get(key)
      if (origin !== undefined) return origin
    }
  }
  return undefined
}

/** Where each name is found first: in one IDL, in those of one program, in all. */
const indexAll = (idls: readonly AstIdl[], spend: Spend) => {
  const all = new Map<string, Origin>()
  const byProgram = new Map<string, Map<string, Origin>>()
  for (const idl of idls) {
    const program = idl.program_id ?? undefined
    let ofProgram = program === undefined ? undefined : byProgram.get(program)
    if (program !== undefined && ofProgram === undefined) byProgram.set(program, (ofProgram = new Map()))
    for (const [key, origin] of indexTypes(idl, spend)) {
      for (const index of [all, ofProgram]) if (index?.has(key) === false) index.set(key, origin)
    }
  }
  return { all, byProgram }
}

const indexTypes = (idl: AstIdl, spend: Spend): Index => {
  const index = new Map<string, Origin>()
  const add = (name: string, type: AstTypeDefinition) => {
    spend(1)
    const origin = { name, type, own: index }
    for (const key of [name, lastSegment(name)]) if (!index.has(key)) index.set(key, origin)
  }
  for (const { name, type } of idl.types ?? []) add(name, type)
  // Older IDLs describe an account's contents with the account alone.
  for (const { name, fields } of idl.accounts ?? []) {
    if (fields && fields.length > 0) add(name, { kind: "struct", fields })
  }
  return index
}

const define = (name: string, definition: AstTypeDefinition): { type: ShapeType; contents: readonly string[] } => {
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
