// Decoders for the types of an IDL, whose values are as the generated types have them.
import { isObject } from "@svc/common/json-object"
import * as kit from "@solana/kit"
import type { Decoder } from "@solana/kit"
import type { AstIdl } from "./ast.ts"
import { textOf, Unsupported, type Value } from "./value.ts"

export type ValueDecoder = Decoder<Value>

const primitives = new Map<string, ValueDecoder>([
  ["bool", kit.getBooleanDecoder()],
  ["u8", kit.getU8Decoder()],
  ["u16", kit.getU16Decoder()],
  ["u32", kit.getU32Decoder()],
  ["u64", kit.getU64Decoder()],
  ["u128", kit.getU128Decoder()],
  ["u256", kit.getU256Decoder()],
  ["i8", kit.getI8Decoder()],
  ["i16", kit.getI16Decoder()],
  ["i32", kit.getI32Decoder()],
  ["i64", kit.getI64Decoder()],
  ["i128", kit.getI128Decoder()],
  ["i256", kit.getI256Decoder()],
  ["f32", kit.getF32Decoder()],
  ["f64", kit.getF64Decoder()],
  ["publicKey", kit.getAddressDecoder()],
  ["pubkey", kit.getAddressDecoder()],
])

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Makes decoders for an IDL's types. They throw Unsupported for a type that they don't know. */
export const createCodecs = ({ types, discriminant_size }: AstIdl) => {
  // Programs whose instructions begin with four bytes are native ones: bincode, all others Borsh.
  const bincode = discriminant_size === 4
  const size = bincode ? kit.getU64Decoder() : kit.getU32Decoder()
  const tag = bincode ? kit.getU32Decoder() : kit.getU8Decoder()
  const made = new Map<string, ValueDecoder | undefined>()

  const fieldOf = (field: unknown, position: number): [string, ValueDecoder] =>
    isObject(field) && typeof field["name"] === "string" && "type" in field
      ? [field["name"], decoder(field["type"])]
      : [String(position), decoder(field)]

  const struct = (fields: unknown): ValueDecoder => kit.getStructDecoder(listOf(fields).map(fieldOf)) as ValueDecoder

  /** The content of a variant: an object where its fields have names, else a value or a tuple of them. */
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
    // A type that holds itself: its decoder is looked up when it is needed.
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
