// Decoders for the types of an IDL. Their values match the generated types.
import { isObject } from "@svc/common/json-object"
import * as kit from "@solana/kit"
import type { Decoder } from "@solana/kit"
import type { AstIdl } from "./ast.ts"
import { textOf, Unsupported, type Value } from "./value.ts"

export type ValueDecoder = Decoder<Value>

const bits = ["8", "16", "32", "64", "128", "256"] as const
/** By their names in an IDL. */
export const primitives: ReadonlyMap<string, ValueDecoder> = new Map<string, ValueDecoder>([
  ...bits.map((size) => [`u${size}`, kit[`getU${size}Decoder`]()] as const),
  ...bits.map((size) => [`i${size}`, kit[`getI${size}Decoder`]()] as const),
  ["f32", kit.getF32Decoder()],
  ["f64", kit.getF64Decoder()],
  ["bool", kit.getBooleanDecoder()],
  ["publicKey", kit.getAddressDecoder()],
  ["pubkey", kit.getAddressDecoder()],
])

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Makes decoders for an IDL's types. Both functions throw Unsupported for an unknown type. */
export const createCodecs = ({ types, discriminant_size }: AstIdl) => {
  // Native programs have discriminators of four bytes and use bincode. All others use Borsh.
  const bincode = discriminant_size === 4
  const size = bincode ? kit.getU64Decoder() : kit.getU32Decoder()
  const tag = bincode ? kit.getU32Decoder() : kit.getU8Decoder()
  const made = new Map<string, ValueDecoder | undefined>()

  const fieldOf = (field: unknown, position: number): [string, ValueDecoder] =>
    isObject(field) && typeof field["name"] === "string" && "type" in field
      ? [field["name"], decoder(field["type"])]
      : [String(position), decoder(field)]

  const struct = (fields: unknown): ValueDecoder => kit.getStructDecoder(listOf(fields).map(fieldOf)) as ValueDecoder

  /** A variant's content: an object if its fields have names, else one value or a tuple. */
  const content = (fields: readonly unknown[]): ValueDecoder => {
    const read = fields.map(fieldOf)
    if (!read.every(([name], index) => name === String(index))) return struct(fields)
    const [[, only] = [], ...others] = read
    return others.length === 0 && only !== undefined ? only : kit.getTupleDecoder(read.map(([, item]) => item))
  }

  const enumeration = (variants: unknown): ValueDecoder => {
    const read = listOf(variants).map((variant): [string, Decoder<{ content?: Value }>] => {
      const { name, fields } = isObject(variant) ? variant : {}
      const inside: [string, ValueDecoder][] = Array.isArray(fields) ? [["content", content(fields)]] : []
      return [String(name), kit.getStructDecoder(inside)]
    })
    const union = kit.getDiscriminatedUnionDecoder(read, { size: tag }) as Decoder<{ __kind: string; content?: Value }>
    return kit.transformDecoder(union, ({ __kind, content: inside }) =>
      inside === undefined ? __kind : { [__kind]: inside },
    )
  }

  const defined = (name: string): ValueDecoder => {
    const known = made.get(name)
    if (known !== undefined) return known
    // A recursive type: its decoder is looked up when it is used.
    if (made.has(name)) return kit.createDecoder({ read: (data, offset) => defined(name).read(data, offset) })
    const type = types.find((one) => one.name === name)?.type
    if (type === undefined) throw new Unsupported(`the type ${name}`)
    made.set(name, undefined)
    const { kind, fields, variants, alias, value } = type
    const read = kind === "struct" ? struct(fields) : kind === "enum" ? enumeration(variants) : decoder(alias ?? value)
    made.set(name, read)
    return read
  }

  const simple = (name: string): ValueDecoder => {
    if (name === "string") return kit.addDecoderSizePrefix(kit.getUtf8Decoder(), size)
    return name === "bytes"
      ? kit.getArrayDecoder(kit.getU8Decoder(), { size })
      : (primitives.get(name) ?? defined(name))
  }

  const decoder = (type: unknown): ValueDecoder => {
    if (typeof type === "string") return simple(type)
    const [[form, inner] = ["nothing", undefined]] = isObject(type) ? Object.entries(type) : []
    const [first, second] = listOf(inner)
    switch (form) {
      case "option":
        return kit.getNullableDecoder(decoder(inner))
      case "coption": {
        const item = decoder(inner)
        if (!kit.isFixedSize(item)) throw new Unsupported("a coption of variable size")
        return kit.getNullableDecoder(item, { prefix: kit.getU32Decoder(), noneValue: "zeroes" })
      }
      case "vec":
      case "hashSet":
      case "bTreeSet":
        return kit.getArrayDecoder(decoder(inner), { size })
      case "array":
        if (typeof second !== "number") throw new Unsupported("a generic length")
        return kit.getArrayDecoder(decoder(first), { size: second })
      case "tuple":
        return kit.getTupleDecoder(listOf(inner).map(decoder))
      case "hashMap":
      case "bTreeMap":
        return kit.transformDecoder(kit.getMapDecoder(decoder(first), decoder(second), { size }), (map) =>
          Object.fromEntries([...map].map(([key, value]) => [textOf(key), value])),
        )
      case "defined":
        return simple(String(isObject(inner) ? inner["name"] : inner))
      default:
        throw new Unsupported(`the type ${form}`)
    }
  }

  return { struct, defined }
}
