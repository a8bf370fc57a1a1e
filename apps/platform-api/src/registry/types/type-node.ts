// Converts Rust types to what a stream's JSON contains.
import { lastSegment } from "@svc/common/rust-path"
import { compactType } from "../ast/rust-type.ts"

export type TypeNode =
  | { readonly kind: "plain"; readonly type: "boolean" | "float" | "text" | "unknown" }
  /** A number that every JSON reader keeps exact. */
  | { readonly kind: "integer"; readonly bits: 8 | 16 | 32; readonly signed: boolean }
  /** An integer that a double would round: a string of digits. */
  | { readonly kind: "digits"; readonly signed: boolean }
  | { readonly kind: "nullable" | "list" | "map"; readonly of: TypeNode }
  | { readonly kind: "tuple"; readonly items: readonly TypeNode[] }
  /** A type of the stack, by its name. */
  | { readonly kind: "named"; readonly name: string }

const plain = new Map<string, TypeNode>([
  ["bool", { kind: "plain", type: "boolean" }],
  ["f32", { kind: "plain", type: "float" }],
  ["f64", { kind: "plain", type: "float" }],
  ...["String", "&str", "str", "char", "Pubkey", "PublicKey"].map(
    (name) => [name, { kind: "plain", type: "text" }] as const,
  ),
  ...([8, 16, 32] as const).flatMap((bits) => [
    [`u${bits}`, { kind: "integer", bits, signed: false }] as const,
    [`i${bits}`, { kind: "integer", bits, signed: true }] as const,
  ]),
  ...["64", "128", "256", "size"].flatMap((bits) => [
    [`u${bits}`, { kind: "digits", signed: false }] as const,
    [`i${bits}`, { kind: "digits", signed: true }] as const,
  ]),
])

const lists = new Set(["Vec", "VecDeque", "HashSet", "BTreeSet"])
const options = new Set(["Option", "COption"])
const maps = new Set(["HashMap", "BTreeMap"])
const boxes = new Set(["Box", "Arc", "Rc"])

/** The meaning of a type. A name that is neither in `known` nor Rust's own is unknown. */
export const typeNode = (text: string, known: ReadonlySet<string>): TypeNode => nodeOf(compactType(text), known)

const nodeOf = (compact: string, known: ReadonlySet<string>): TypeNode => {
  if (compact.startsWith("[") && compact.endsWith("]")) {
    const [item = ""] = splitAt(compact.slice(1, -1), ";")
    return { kind: "list", of: nodeOf(item, known) }
  }
  if (compact.startsWith("(") && compact.endsWith(")")) {
    const items = splitAt(compact.slice(1, -1), ",").filter((item) => item !== "")
    return { kind: "tuple", items: items.map((item) => nodeOf(item, known)) }
  }
  if (known.has(compact)) return { kind: "named", name: compact }
  const open = compact.indexOf("<")
  const path = open < 0 ? compact : compact.slice(0, open)
  const name = lastSegment(path)
  const contents = open < 0 || !compact.endsWith(">") ? [] : splitAt(compact.slice(open + 1, -1), ",")
  const [first, second] = contents
  if (first !== undefined) {
    if (options.has(name)) return nullable(nodeOf(first, known))
    if (lists.has(name)) return { kind: "list", of: nodeOf(first, known) }
    if (boxes.has(name)) return nodeOf(first, known)
    if (maps.has(name) && second !== undefined) return { kind: "map", of: nodeOf(second, known) }
  }
  for (const candidate of [path, name]) if (known.has(candidate)) return { kind: "named", name: candidate }
  return plain.get(name) ?? { kind: "plain", type: "unknown" }
}

export const nullable = (of: TypeNode): TypeNode => (of.kind === "nullable" ? of : { kind: "nullable", of })

/** The parts between separators, outside of brackets. */
const splitAt = (text: string, separator: string): string[] => {
  const pieces: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if ("<([".includes(char)) depth += 1
    else if (">)]".includes(char)) depth -= 1
    else if (char === separator && depth === 0) {
      pieces.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...pieces, text.slice(start)]
}
