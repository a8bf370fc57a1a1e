import { type Declaration, identifier, type Member, type Model, type Nested, takeNames } from "./model.ts"
import type { TypeNode } from "./type-node.ts"

// Keywords, and the names that this module itself or its annotations use.
const reserved =
  `False None True and as assert async await break class continue def del elif else except finally for from
  global if import in is lambda nonlocal not or pass raise return try while with yield match case type
  Any Dict List Literal Optional Tuple TypedDict Union ViewId NeedsKey VIEW_KEYS str int float bool object __all__`.split(
    /\s+/,
  )

const plain = { boolean: "bool", float: "float", text: "str", unknown: "Any" } as const

/** A string literal in ASCII, so that no character looks like another. */
const text = (value: string): string =>
  JSON.stringify(value).replaceAll(/[^\x20-\x7e]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`
  })

const literal = (views: Model["views"]): string =>
  views.length === 0 ? "Any" : `Literal[\n${views.map(({ id }) => `    ${text(id)},\n`).join("")}]`

/**
 * A Python module of typed dictionaries. They are created by calls instead of classes, so that any text can be a key.
 */
export const pythonModule = ({ declarations, views, named }: Model, heading: readonly string[]): string => {
  const take = takeNames(reserved)
  const names = declarations.map(({ name }) => take(identifier(name)))
  const nameAt = (index: number | undefined): string => names[index ?? -1] ?? "Any"
  const lines: string[] = []

  /** The annotation of a node. A nested object becomes its own dictionary, declared before. */
  const typeText = (node: TypeNode | Nested, name: string): string => {
    switch (node.kind) {
      case "integer":
        return "int"
      case "digits":
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
      case "plain":
        return plain[node.type]
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
    const variants = declaration.members.map(({ key, value }) => {
      if (value === undefined) return `Literal[${text(key)}]`
      const holder = take(identifier(`${name}_${key}`))
      dictionary(holder, [{ key, value }])
      return text(holder)
    })
    lines.push(
      `${name} = ${variants.length === 0 ? "Any" : `Union[\n${variants.map((v) => `    ${v},\n`).join("")}]`}\n`,
    )
  }
  for (const [index, declaration] of declarations.entries()) declare(declaration, nameAt(index))
  lines.push(`ViewId = ${literal(views)}\n`)
  // By the view's id: the field whose value is a record's key.
  const keys = views.map(({ id, key }) => `    ${text(id)}: ${key === null ? "None" : text(key)},\n`).join("")
  lines.push(`VIEW_KEYS: Dict[str, Optional[str]] = {\n${keys}}\n`)
  lines.push(`NeedsKey = ${literal(views.filter(({ needsKey }) => needsKey))}\n`)
  return [
    heading.map((line) => `# ${line}\n`).join(""),
    "from typing import Any, Dict, List, Literal, Optional, Tuple, TypedDict, Union\n",
    ...lines,
  ].join("\n")
}
