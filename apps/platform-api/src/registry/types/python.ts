import {
  type Declaration,
  identifier,
  type Member,
  type Model,
  type Nested,
  pythonEscape,
  quoted,
  takeNames,
} from "./model.ts"
import type { TypeNode } from "./type-node.ts"

// Keywords, and the names that this module itself or its annotations use.
const reserved =
  `False None True and as assert async await break class continue def del elif else except finally for from
  global if import in is lambda nonlocal not or pass raise return try while with yield match case type
  Any Dict List Literal Optional Tuple TypedDict Union ViewId VIEWS str int float bool object __all__`.split(/\s+/)

const text = (value: string): string => quoted(value, pythonEscape)

/**
 * A Python module of typed dictionaries. They are created by calls instead of classes, so that any text can be a key.
 */
export const pythonModule = ({ declarations, views, named }: Model, heading: readonly string[]): string => {
  const take = takeNames(reserved)
  const names = declarations.map(({ name }) => take(identifier(name)))
  const nameAt = (index: number | undefined): string => (index === undefined ? undefined : names[index]) ?? "Any"
  const lines: string[] = []

  /** The annotation of a node. A nested object becomes its own dictionary, declared before. */
  const typeText = (node: TypeNode | Nested, name: string): string => {
    switch (node.kind) {
      case "boolean":
        return "bool"
      case "integer":
        return "int"
      case "float":
        return "float"
      case "digits":
      case "text":
        return "str"
      case "nullable":
        return `Optional[${typeText(node.of, name)}]`
      case "list":
        return `List[${typeText(node.of, name)}]`
      case "map":
        return `Dict[str, ${typeText(node.of, name)}]`
      case "tuple":
        return `Tuple[${node.items.length === 0 ? "()" : node.items.map((item) => typeText(item, name)).join(", ")}]`
      case "named":
        return nameAt(named.get(node.name))
      case "object": {
        const own = take(name)
        dictionary(own, node.members)
        return own
      }
      case "unknown":
        return "Any"
      default:
        return node satisfies never
    }
  }
  const dictionary = (name: string, members: readonly Member[]): void => {
    const entries = members.map(
      // Annotations are strings, so a type can be used before its declaration, and inside itself.
      ({ key, value }) => `    ${text(key)}: ${text(typeText(value, identifier(`${name}_${key}`)))},\n`,
    )
    lines.push(`${name} = TypedDict(${text(name)}, {\n${entries.join("")}})\n`)
  }
  const declare = (declaration: Declaration, name: string): void => {
    if (declaration.kind !== "enum") return dictionary(name, declaration.members)
    const variants = declaration.variants.map(({ name: variant, payload }) => {
      if (payload === undefined) return `Literal[${text(variant)}]`
      const holder = take(identifier(`${name}_${variant}`))
      dictionary(holder, [{ key: variant, value: payload }])
      return text(holder)
    })
    lines.push(
      `${name} = ${variants.length === 0 ? "Any" : `Union[\n${variants.map((v) => `    ${v},\n`).join("")}]`}\n`,
    )
  }
  for (const [index, declaration] of declarations.entries()) declare(declaration, nameAt(index))
  const ids = views.map(({ id }) => `    ${text(id)},\n`).join("")
  lines.push(`ViewId = ${views.length === 0 ? "Any" : `Literal[\n${ids}]`}\n`)
  return [
    heading.map((line) => `# ${line}\n`).join(""),
    "from typing import Any, Dict, List, Literal, Optional, Tuple, TypedDict, Union\n",
    ...lines,
  ].join("\n")
}
