// Size limits for what is derived from an AST. A name that appears once in an AST can appear many times in its schema
// and modules.
import type { Ast } from "../ast/ast-shape.ts"
import type { Schema, Shape } from "./derive-schema.ts"
import { AstTooLarge, type DocumentPath } from "../ast/document-fault.ts"

const mib = 1024 * 1024
/** The maximum size of a schema as JSON. */
export const maxSchemaBytes = 4 * mib
/** The maximum size of a module of types, in each language. */
export const maxModuleBytes = 8 * mib
/** The maximum total length of the entity names, which every list of stacks contains. */
export const maxEntityNameBytes = 64 * 1024

const tooLarge = (at: DocumentPath, what: string, max: number): AstTooLarge =>
  new AstTooLarge(at, `makes ${what} of more than ${max >= mib ? `${max / mib} MiB` : `${max / 1024} KiB`}`)

/** Adds up sizes, and throws AstTooLarge when the limit is exceeded. */
const adder = (what: string, max: number) => {
  let sum = 0
  return (size: number, at: DocumentPath): void => {
    if ((sum += size) > max) throw tooLarge(at, what, max)
  }
}

/**
 * Estimates the schema's size before it is built: each field repeats its section twice, and its entity in each change.
 * Throws AstTooLarge.
 */
export const checkFields = ({ entities }: Ast): void => {
  const add = adder("a schema", maxSchemaBytes)
  for (const [e, { state_name, sections }] of entities.entries()) {
    for (const [s, { name, fields }] of sections.entries()) {
      const at = ["entities", e, "sections", s]
      for (const { field_name, rust_type_name } of fields) {
        add(2 * name.length + field_name.length + rust_type_name.length + state_name.length, at)
      }
    }
  }
}

/** Throws AstTooLarge if the schema, or a list of its changes, would be too large. */
export const checkSchemaSize = (schema: Schema, { types }: Shape): void => {
  const addName = adder("a list of entities", maxEntityNameBytes)
  const add = adder("a schema", maxSchemaBytes)
  for (const [e, entity] of schema.entities.entries()) {
    addName(jsonBytes(entity.name), ["entities", e])
    add(jsonBytes(entity), ["entities", e])
  }
  for (const type of schema.types) add(jsonBytes(type), ["idls"])
  // A change of a member also names its type.
  const addChanges = adder("changes", maxSchemaBytes)
  for (const type of types) {
    const members = type.kind === "struct" ? type.fields : type.variants
    addChanges(type.name.length * members.length, ["idls"])
  }
}

/** Throws AstTooLarge if the module is too large. */
export const checkModuleSize = (bytes: number, at: DocumentPath, language: string): void => {
  if (bytes > maxModuleBytes) throw tooLarge(at, `${language} types`, maxModuleBytes)
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + 1
