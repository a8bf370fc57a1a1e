// Modules of types, and the size limits of all that is derived from an AST. A name that appears once in an AST can appear
// many times in its schema and modules.
import type { Ast } from "../ast/ast-shape.ts"
import { deriveShape, type Schema, schemaOf, type Shape } from "../schema/derive-schema.ts"
import { AstTooLarge, type DocumentPath } from "../ast/document-fault.ts"
import { jsonSchemaModule } from "./json-schema.ts"
import { type Declaration, type Member, type Model, modelOf } from "./model.ts"
import { typescriptModule } from "./typescript.ts"

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
const checkSchemaSize = (schema: Schema, { types }: Shape): void => {
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
const checkModuleSize = (bytes: number, at: DocumentPath, language: string): void => {
  if (bytes > maxModuleBytes) throw tooLarge(at, `${language} types`, maxModuleBytes)
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + 1

/** Each with the length of its shortest type: `"any"`, `{"type":"number"}`. */
const formats = {
  typescript: { mediaType: "text/typescript; charset=utf-8", write: typescriptModule, shortest: 4 },
  "json-schema": { mediaType: "application/schema+json", write: jsonSchemaModule, shortest: 17 },
}
export type Language = keyof typeof formats
export const languages = Object.keys(formats) as [Language, ...Language[]]
export const mediaType = (language: Language): string => formats[language].mediaType

/**
 * Adds up the minimum length of a module and checks it after each declaration, so that a module that is far too long
 * isn't written. Names matter most, because nested fields repeat them.
 */
const checkMinimum = ({ declarations, named }: Model, language: Language): void => {
  let length = 0
  const add = (node: Member["value"], depth: number): void => {
    length += formats[language].shortest
    if (node.kind === "named") length += declarations[named.get(node.name) ?? -1]?.name.length ?? 0
    else if (node.kind === "tuple") for (const item of node.items) add(item, depth)
    else if ("of" in node) add(node.of, depth)
    else if (node.kind === "object") addMembers(node.members, depth + 1)
  }
  const addMembers = (members: Declaration["members"], depth: number): void => {
    for (const { key, value } of members) {
      // TypeScript indents members.
      length += key.length + (language === "typescript" ? 2 * depth : 0)
      if (value !== undefined) add(value, depth)
    }
  }
  for (const [index, { kind, name, members }] of declarations.entries()) {
    length += name.length
    addMembers(members, 1)
    checkModuleSize(length, kind === "entity" ? ["entities", index] : ["idls"], language)
  }
}

/** A module of types of a stack. Throws AstTooLarge. */
export const typedModule = (shape: Shape, language: Language, stack: { name: string; version: number }): string =>
  moduleOf(modelOf(shape), language, stack)

/**
 * A module for programs to import: a type per entity and per type of the stack, and the ids of views. The same shape
 * gives the same bytes. The stack's author chooses the names, so they appear only as quoted text or as ASCII
 * identifiers, never in comments. Throws AstTooLarge.
 * @param stack the registry's name and the version's number
 */
const moduleOf = (model: Model, language: Language, stack: { name: string; version: number }): string => {
  const heading = [
    `Stack ${stack.name}, version ${stack.version}: types made from its schema by the registry.`,
    "u64, i64 and wider integers are strings of digits: a JSON number that large is rounded by most readers.",
    "A variant added to an enum counts as compatible: keep a branch for ones that are not listed here.",
  ]
  checkMinimum(model, language)
  const module = formats[language].write(model, heading)
  checkModuleSize(Buffer.byteLength(module), ["entities"], language)
  return module
}

// Four for each element that an AST may have. A real AST of 2 MiB takes a tenth of them.
const maxSteps = 1_000_000
// Longer than any name and version, so that the modules fit under every name.
const longestName = { name: "x".repeat(128), version: 2_147_483_647 }

/** Everything derived from an AST. The modules are generated once to check their size. Throws AstTooLarge. */
export const checkDerived = (ast: Ast): { readonly shape: Shape; readonly schema: Schema } => {
  let steps = 0
  const shape = deriveShape(ast, (more) => {
    if ((steps += more) > maxSteps) throw new AstTooLarge(["idls"], "takes too much work")
  })
  const schema = schemaOf(shape)
  checkSchemaSize(schema, shape)
  const model = modelOf(shape)
  for (const language of languages) moduleOf(model, language, longestName)
  return { shape, schema }
}
