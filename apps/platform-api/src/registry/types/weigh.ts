import type { DocumentPath } from "../ast/document-fault.ts"
import type { Declaration, EnumVariant, Member, Model, Nested } from "./model.ts"
import type { TypeNode } from "./type-node.ts"
import type { Language } from "./typed-module.ts"

// The shortest way that each language has of saying what a plain type is: "any", `"int"`, `{"type":"number"}`.
const shortest: Readonly<Record<Language, number>> = { typescript: 4, python: 3, "json-schema": 17 }

/**
 * Adds up what a module will at least be long, and tells `check` after each declaration: one that would be far too long is
 * never written. Names weigh most, since a short path in one field means a long name in the module.
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
      // Python has a name for each dictionary, made of all that it stands in; TypeScript indents its members.
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
