// What the stack compiler notes about a field's Rust type.
import type { Field } from "./compose.ts"
import type { IdlType, Program } from "./program.ts"

/** Rust's token stream as text: `Option<Vec<u64>>` is written `Option < Vec < u64 > >`. */
export const spaced = (type: string): string =>
  type
    .replaceAll(/::|[<>,;]/g, " $& ")
    .replaceAll(/\s+/g, " ")
    .trim()

export function fieldType(name: string, field: Field, programs: Program[]) {
  const inner = /^Option<(.*)>$/.exec(field.type)?.[1]
  const held = inner ?? field.type
  return {
    field_name: name,
    rust_type_name: spaced(field.type),
    base_type: field.timestamp ? "Timestamp" : baseType(held),
    is_optional: inner !== undefined,
    is_array: /^(Vec<|\[)/.test(held),
    inner_type: inner === undefined ? null : spaced(inner),
    source_path: null,
    resolved_type: resolve(held, programs),
    ...(field.emit === false ? { emit: false } : {}),
  }
}

function baseType(rust: string): string {
  if (/^[ui](8|16|32|64|128)$/.test(rust)) return "Integer"
  if (/^f(32|64)$/.test(rust)) return "Float"
  if (/^(Vec<|\[)/.test(rust)) return "Array"
  return { bool: "Boolean", String: "String", Pubkey: "Pubkey" }[rust] ?? "Object"
}

/** The IDL type that `…::types::Name` or `…::accounts::Name` means, in the compiler's flat form. */
function resolve(rust: string, programs: Program[]) {
  const [, sdk, name] = /^(?:Vec<)?(\w+)_sdk::\w+::(\w+)>?$/.exec(rust) ?? []
  const program = programs.find((candidate) => candidate.name === sdk)
  const type = program?.types.find((candidate) => candidate.name === name)
  if (program === undefined || type === undefined) return null
  const definition = type.type
  return {
    type_name: type.name,
    fields:
      definition.kind === "struct"
        ? definition.fields.map((field) => ({ field_name: field.name, ...flat(field.type) }))
        : [],
    is_instruction: false,
    is_account: Object.hasOwn(program.accounts, type.name),
    is_event: false,
    is_enum: definition.kind === "enum",
    enum_variants: definition.kind === "enum" ? definition.variants.map((variant) => variant.name) : [],
  }
}

function flat(type: IdlType): { field_type: string; base_type: string; is_optional: boolean; is_array: boolean } {
  if (typeof type === "string") {
    const base_type =
      { publicKey: "Pubkey", pubkey: "Pubkey", string: "String", bytes: "Binary" }[type] ?? baseType(type)
    return { field_type: type, base_type, is_optional: false, is_array: false }
  }
  const optional = type["option"] ?? type["coption"]
  if (optional !== undefined) return { ...flat(optional as IdlType), is_optional: true }
  const item = type["vec"] ?? (type["array"] as IdlType[] | undefined)?.[0]
  if (item !== undefined) {
    const held = flat(item as IdlType)
    return { ...held, field_type: `[${held.field_type}]`, is_array: true }
  }
  const defined = type["defined"] as string | { name: string } | undefined
  const name = typeof defined === "object" ? defined.name : (defined ?? Object.keys(type)[0] ?? "")
  return { field_type: name, base_type: "Object", is_optional: false, is_array: false }
}
