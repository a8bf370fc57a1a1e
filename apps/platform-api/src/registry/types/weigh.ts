import type { DocumentPath } from "../ast/document-fault.ts"
import type { Declaration, EnumVariant, Member, Model, Nested } from "./model.ts"
import type { TypeNode } from "./type-node.ts"
import type { Language } from "./typed-module.ts"

// The length of the shortest type in each language: "any", `"int"`, `{"type":"number"}`.
const shortest: Readonly<Record<Language, number>> = { typescript: 4, python: 3, "json-schema": 17 }

/**
 * Adds up the minimum length of a module and calls `check` after each declaration, so that a module that is far too
 * long isn't written. Names matter most, because nested fields repeat them.
 */
export const weigh = (
  { declarations, named }: Model,
  language: Language,
  check: (length: number, at: DocumentPath) => void,
): void => {
  let length = 0
  const add = (node: TypeNode | Nested, way: number, depth: number): void => {
    length += shortest[language]
    if (node.kind === "named") length += declarations[named.get(node.name) ?? -1]?.name.length ?? 0
    else if (node.kind === "tuple") for (const item of node.items) add(item, way, depth)
    else if ("of" in node) add(node.of, way, depth)
    else if (node.kind === "object") {
      // Python names each dictionary after everything it is nested in. TypeScript indents members.
      if (language === "python") length += 3 * way
      for (const member of node.members) addMember(member, way, depth + 1)
    }
  }
  const addMember = ({ key, value }: Member, way: number, depth: number): void => {
    length += key.length + (language === "typescript" ? 2 * depth : 0)
    add(value, way + 1 + key.length, depth)
  }
  const addVariant = ({ name, payload }: EnumVariant, way: number): void => {
    length += name.length
    if (payload !== undefined) add(payload, way + 1 + name.length, 1)
  }
  const addDeclaration = (declaration: Declaration): void => {
    const { name } = declaration
    length += name.length
    if (declaration.kind === "enum") for (const variant of declaration.variants) addVariant(variant, name.length)
    else for (const member of declaration.members) addMember(member, name.length, 1)
  }
  for (const [index, declaration] of declarations.entries()) {
    addDeclaration(declaration)
    check(length, declaration.kind === "entity" ? ["entities", index] : ["idls"])
  }
}
