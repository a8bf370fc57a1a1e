import { type Declaration, identifier, type Member, type Model, type Nested, takeNames } from "./model.ts"
import type { TypeNode } from "./type-node.ts"

// Names that no type can have, and those that this module itself uses.
const reserved =
  `any as async await bigint boolean break case catch class const continue debugger default delete do else
  enum export extends false finally for function if implements import in instanceof interface let never new null number
  object package private protected public return static string super switch symbol this throw true try type typeof
  undefined unknown var void while with yield Views ViewId ViewKeys NeedsKey`.split(/\s+/)

const plain = { boolean: "boolean", float: "number", text: "string", unknown: "unknown" } as const

/** A string literal in ASCII, so that no character looks like another. */
const text = (value: string): string =>
  JSON.stringify(value).replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** A TypeScript module that contains only types. */
export const typescriptModule = ({ declarations, views, named }: Model, heading: readonly string[]): string => {
  const take = takeNames(reserved)
  const names = declarations.map(({ name }) => take(identifier(name)))
  const nameAt = (index: number | undefined): string => names[index ?? -1] ?? "unknown"

  const typeText = (node: TypeNode | Nested, indent: string): string => {
    switch (node.kind) {
      case "integer":
        return "number"
      case "digits":
        return "string"
      case "nullable":
        return `${typeText(node.of, indent)} | null`
      case "list":
        return node.of.kind === "nullable" ? `(${typeText(node.of, indent)})[]` : `${typeText(node.of, indent)}[]`
      case "map":
        return `{ [key: string]: ${typeText(node.of, indent)} }`
      case "tuple":
        return `[${node.items.map((item) => typeText(item, indent)).join(", ")}]`
      case "named":
        return nameAt(named.get(node.name))
      case "object":
        return membersText(node.members, indent)
      case "plain":
        return plain[node.type]
      default:
        return node satisfies never
    }
  }
  const membersText = (members: readonly Member[], indent: string): string => {
    if (members.length === 0) return "{}"
    const deeper = `${indent}  `
    const lines = members.map(({ key, value }) => `${deeper}${keyText(key)}: ${typeText(value, deeper)}\n`)
    return `{\n${lines.join("")}${indent}}`
  }
  const declared = (declaration: Declaration, index: number): string => {
    if (declaration.kind !== "enum")
      return `export interface ${nameAt(index)} ${membersText(declaration.members, "")}\n`
    const variants = declaration.members.map(({ key, value }) =>
      value === undefined ? text(key) : `{ ${keyText(key)}: ${typeText(value, "    ")} }`,
    )
    const union = variants.length === 0 ? " never" : variants.map((variant) => `\n  | ${variant}`).join("")
    return `export type ${nameAt(index)} =${union}\n`
  }
  return [
    heading.map((line) => `// ${line}\n`).join(""),
    ...declarations.map(declared),
    `/** What each view shows, by its id: a list of entities; or one, or one for each key. */\nexport interface Views {\n${views
      .map(({ id, entity, mode }) => `  ${text(id)}: ${nameAt(entity)}${mode === "list" ? "[]" : ""}\n`)
      .join("")}}\n`,
    `export type ViewId =${union(views)}\n`,
    `/** The field whose value is a record's key, by the view's id; null if several fields are. */\nexport interface ViewKeys {\n${views
      .map(({ id, key_field }) => `  ${text(id)}: ${key_field === null ? "null" : text(key_field)}\n`)
      .join("")}}\n`,
    `/** The views whose subscriptions must have a key. */\nexport type NeedsKey =${union(views.filter(({ needs_key }) => needs_key))}\n`,
  ].join("\n")
}

const union = (views: Model["views"]): string =>
  views.length === 0 ? " never" : views.map(({ id }) => `\n  | ${text(id)}`).join("")

const keyText = (key: string): string => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : text(key))
