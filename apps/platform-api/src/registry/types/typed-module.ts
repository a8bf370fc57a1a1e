import type { Shape } from "../schema/derive-schema.ts"
import { checkModuleSize } from "../schema/derived-size.ts"
import { jsonSchemaModule } from "./json-schema.ts"
import { type Declaration, type Member, type Model, modelOf } from "./model.ts"
import { typescriptModule } from "./typescript.ts"

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
export const moduleOf = (model: Model, language: Language, stack: { name: string; version: number }): string => {
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
