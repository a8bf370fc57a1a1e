// Decodes a program's accounts and instructions by its IDL.
import { isFixedSize, type ReadonlyUint8Array } from "@solana/kit"
import type { AstIdl } from "./ast.ts"
import { createCodecs, type ValueDecoder } from "./codecs.ts"
import { type Fields, supported, type Value } from "./value.ts"

type Layout = { readonly name: string; readonly discriminator: readonly number[]; readonly decoder: ValueDecoder }

const read = ({ decoder, discriminator }: Layout, data: ReadonlyUint8Array): [Value?, number?] => {
  if (!discriminator.every((byte, index) => data[index] === byte)) return []
  try {
    return decoder.read(data, discriminator.length)
  } catch {
    return []
  }
}

/** Whether a value fills its account. Zeroes may follow a value of variable size. */
const fills = ({ decoder }: Layout, data: ReadonlyUint8Array, end: number): boolean =>
  isFixedSize(decoder) ? decoder.fixedSize === data.length : data.slice(end).every((byte) => byte === 0)

/** @param onUnsupported called with a type that can't be decoded, and why */
export const createProgram = (idl: AstIdl, address: string, onUnsupported: (type: string, uses: string) => void) => {
  const codecs = createCodecs(idl)
  /** Layouts with the longest discriminator first, because a shorter one may be its prefix. */
  const layouts = <T extends Omit<Layout, "decoder">>(list: readonly T[], make: (one: T) => ValueDecoder): Layout[] =>
    list
      .flatMap((one) => {
        const { name, discriminator } = one
        return supported(
          (uses) => onUnsupported(name, uses),
          () => ({ name, discriminator, decoder: make(one) }),
        )
      })
      .sort((a, b) => b.discriminator.length - a.discriminator.length)
  const accounts = layouts(idl.accounts, ({ name, fields }) => (fields ? codecs.struct(fields) : codecs.defined(name)))
  const instructions = layouts(idl.instructions, ({ args }) => codecs.struct(args))

  return {
    address,
    /** Decodes an account, found by its discriminator, or by its exact size if it has none. */
    account: (data: ReadonlyUint8Array): { readonly name: string; readonly value: Fields } | undefined => {
      for (const layout of accounts) {
        const [value, end = 0] = read(layout, data)
        if (value === undefined || (layout.discriminator.length === 0 && !fills(layout, data, end))) continue
        return { name: layout.name, value: value as Fields }
      }
      return undefined
    },
    /** Decodes an instruction to `{data: arguments, accounts: addresses}`, both by name. */
    instruction: (addresses: readonly string[], data: ReadonlyUint8Array) => {
      for (const layout of instructions) {
        const [args] = read(layout, data)
        if (args === undefined) continue
        const names = idl.instructions.find(({ name }) => name === layout.name)?.accounts ?? []
        const accountsByName = Object.fromEntries(names.map(({ name }, index) => [name, addresses[index] ?? null]))
        return { name: layout.name, value: { data: args, accounts: accountsByName } }
      }
      return undefined
    },
  }
}
