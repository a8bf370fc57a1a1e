// A short notation for what an IDL says about a program; compose.ts writes it out in the AST's form.
import { createHash } from "node:crypto"

export type IdlType = string | { readonly [form: string]: unknown }
type Members = Readonly<Record<string, IdlType>>

export interface TypeNotation {
  name: string
  docs: string[]
  type:
    | { kind: "struct"; fields: { name: string; type: IdlType }[] }
    | { kind: "enum"; variants: { name: string; fields?: IdlType[] }[] }
}

export interface InstructionNotation {
  name: string
  discriminator: number[]
  docs: string[]
  accounts: {
    name: string
    writable: boolean
    signer: boolean
    optional: boolean
    address: string | null
    docs: string[]
  }[]
  args: { name: string; type: IdlType }[]
}

export interface Program {
  name: string
  program_id: string
  version: string
  /** Bytes of an instruction's discriminator: 8 for Anchor, 1 for Borsh enums and packed ones, 4 for bincode enums. */
  discriminant_size: 1 | 4 | 8
  /** Names of the structs that are stored in accounts, with their discriminators. */
  accounts: Record<string, number[]>
  types: TypeNotation[]
  instructions: InstructionNotation[]
  errors: { code: number; name: string; msg: string }[]
  pdas?: Record<string, PdaSeed[]>
}

type PdaSeed =
  | { type: "literal"; value: string }
  | { type: "accountRef"; account_name: string }
  | { type: "argRef"; arg_name: string; arg_type: string }

export const struct = (name: string, docs: string, members: Members): TypeNotation => ({
  name,
  docs: [docs],
  type: { kind: "struct", fields: Object.entries(members).map(([field, type]) => ({ name: field, type })) },
})

/** Variants without payload are named alone, the others as `{Name: [types…]}`. */
export const variants = (name: string, docs: string, list: (string | Record<string, IdlType[]>)[]): TypeNotation => ({
  name,
  docs: [docs],
  type: {
    kind: "enum",
    variants: list.flatMap((variant) =>
      typeof variant === "string"
        ? [{ name: variant }]
        : Object.entries(variant).map(([payloadName, fields]) => ({ name: payloadName, fields })),
    ),
  },
})

const wellKnown: Record<string, string> = {
  systemProgram: "11111111111111111111111111111111",
  tokenProgram: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
}

/** Accounts in order, each with its flags: `w` writable, `s` signer, `o` optional. */
export const instruction = (
  name: string,
  discriminator: number[],
  docs: string,
  accounts: Readonly<Record<string, string>>,
  args: Members = {},
): InstructionNotation => ({
  name,
  discriminator,
  docs: [docs],
  accounts: Object.entries(accounts).map(([account, flags]) => ({
    name: account,
    writable: flags.includes("w"),
    signer: flags.includes("s"),
    optional: flags.includes("o"),
    address: wellKnown[account] ?? null,
    docs: [],
  })),
  args: Object.entries(args).map(([arg, type]) => ({ name: arg, type })),
})

/** A native program's discriminator: the variant's number, little-endian. */
export const u32 = (variant: number): number[] => [variant, 0, 0, 0]

/** Anchor's discriminators: the first 8 bytes of a SHA-256, of `account:Market` or `global:place_order`. */
export const anchor = (preimage: `${"account" | "global"}:${string}`): number[] => [
  ...createHash("sha256").update(preimage).digest().subarray(0, 8),
]
