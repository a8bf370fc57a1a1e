// Types in IDLs (before and since Anchor 0.30), and their Rust spelling.
import { isObject } from "@svc/common/json-object"
import { DocumentFault, type DocumentPath } from "./document-fault.ts"
import { compactType, rustTypeFault } from "./rust-type.ts"

const primitives = new Map([
  ["publicKey", "Pubkey"],
  ["pubkey", "Pubkey"],
  ["string", "String"],
  ["bytes", "Vec<u8>"],
])

export type NamedType = {
  readonly name: string
  readonly type: string
}

/**
 * The Rust spelling of an IDL type, without spaces: `{"option": {"vec": "publicKey"}}` is `Option<Vec<Pubkey>>`. Throws
 * a DocumentFault with a path under `at` for an invalid type. Recursion is as deep as the value.
 */
export const rustSpelling = (type: unknown, at: DocumentPath = []): string => {
  if (typeof type === "string") return primitives.get(type) ?? plainName(type, at)
  if (!isObject(type))
    throw new DocumentFault(at, type === undefined ? "is missing" : "must be a type: a name or an object")
  const used = forms.filter((form) => Object.hasOwn(type, form))
  const [form] = used
  if (form === undefined || used.length > 1) throw new DocumentFault(at, `must have exactly one of ${forms.join(", ")}`)
  return spellings[form](type[form], [...at, form])
}

/** A field of a struct or a variant: `{name, type}`, or a bare type that is named by its position. */
export const fieldSpelling = (field: unknown, position: number): NamedType => {
  if (!isObject(field) || !Object.hasOwn(field, "type")) return { name: String(position), type: rustSpelling(field) }
  const { name, type } = field
  if (typeof name !== "string" || name === "") throw new DocumentFault(["name"], "must be a name")
  return { name, type: rustSpelling(type, ["type"]) }
}

const lengthSpelling = (length: unknown, at: DocumentPath): string => {
  if (typeof length === "number" && Number.isSafeInteger(length) && length >= 0) return String(length)
  if (isObject(length)) return plainName(length["generic"], [...at, "generic"])
  throw new DocumentFault(at, "must be a length: a whole number or a generic")
}

const genericSpelling = (generic: unknown, at: DocumentPath): string => {
  if (!isObject(generic)) throw new DocumentFault(at, "must be an object")
  if (generic["kind"] === "const") return plainName(generic["value"], [...at, "value"])
  return rustSpelling(generic["type"], [...at, "type"])
}

const list = (content: unknown, at: DocumentPath, length?: number): string[] => {
  if (!Array.isArray(content)) throw new DocumentFault(at, "must be an array of types")
  if (length !== undefined && content.length !== length) throw new DocumentFault(at, `must hold ${length} types`)
  return content.map((item, index) => rustSpelling(item, [...at, index]))
}

const plainName = (text: unknown, at: DocumentPath): string => {
  if (typeof text !== "string") throw new DocumentFault(at, text === undefined ? "is missing" : "must be a name")
  const fault = text.length > 1024 ? "must be at most 1024 characters" : rustTypeFault(text)
  if (fault !== undefined) throw new DocumentFault(at, fault)
  return compactType(text)
}

type Spelling = (content: unknown, at: DocumentPath) => string

const of =
  (container: string): Spelling =>
  (content, at) =>
    `${container}<${rustSpelling(content, at)}>`
const ofTwo =
  (container: string): Spelling =>
  (content, at) =>
    `${container}<${list(content, at, 2).join(",")}>`

/** The forms of a type that isn't a name, each with one member of this name. */
const spellings = {
  option: of("Option"),
  coption: of("COption"),
  vec: of("Vec"),
  hashSet: of("HashSet"),
  bTreeSet: of("BTreeSet"),
  hashMap: ofTwo("HashMap"),
  bTreeMap: ofTwo("BTreeMap"),
  array: (content, at) => {
    if (!Array.isArray(content) || content.length !== 2) throw new DocumentFault(at, "must be a type and a length")
    return `[${rustSpelling(content[0], [...at, 0])};${lengthSpelling(content[1], [...at, 1])}]`
  },
  tuple: (content, at) => {
    const members = list(content, at)
    // In Rust a tuple of one needs its comma: (T) is T.
    return members.length === 1 ? `(${members[0]},)` : `(${members.join(",")})`
  },
  defined: (content, at) => {
    if (!isObject(content)) return plainName(content, at)
    const name = plainName(content["name"], [...at, "name"])
    const inside = [...at, "generics"]
    const generics = content["generics"] ?? []
    if (!Array.isArray(generics)) throw new DocumentFault(inside, "must be an array")
    const spelled = generics.map((generic, index) => genericSpelling(generic, [...inside, index]))
    return spelled.length === 0 ? name : `${name}<${spelled.join(",")}>`
  },
  generic: plainName,
} satisfies Record<string, Spelling>

const forms = Object.keys(spellings) as (keyof typeof spellings)[]
