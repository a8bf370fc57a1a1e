import { commitments } from "@svc/common/chain-constants"
import { isSignature } from "@svc/common/transaction-parts"
import { inOwnWords } from "@svc/common/validation"
import { isAddress, type Address, type Signature } from "@solana/kit"
import { z } from "zod"
import { invalidParams } from "./rpc.ts"

// Options are read as validators do: null means absent, and unknown keys are ignored.

const maxU64 = 18_446_744_073_709_551_615n

export const u64 = z
  .union([z.int().nonnegative(), z.bigint().nonnegative()])
  .transform(BigInt)
  .refine((value) => value <= maxU64, "more than a u64 holds")

export const address = z.string().refine((text): text is Address => isAddress(text), "not an address")
export const signature = z.string().refine((text): text is Signature => isSignature(text), "not a signature")

const given = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined)
const or = <T extends z.ZodType, const Value>(schema: T, fallback: Value) =>
  schema.nullish().transform((value) => value ?? fallback)
const flag = or(z.boolean(), false)

const commitment = or(z.enum(commitments), "finalized")
const minContextSlot = given(u64)
const onlyBase64 = z.literal("base64", "unsupported encoding. Supported encodings: base64")
// A validator takes this one for accounts, and another for all else, where none is named.
const accountEncoding = onlyBase64.nullish()

const options = <T extends z.ZodRawShape>(shape: T) =>
  z.preprocess((value) => value ?? {}, z.object(shape, "not an object of options"))

export const bankOptions = options({ commitment, minContextSlot })
export const accountOptions = options({ commitment, minContextSlot, encoding: accountEncoding })
export const statusOptions = options({ searchTransactionHistory: flag })
export const airdropOptions = options({ commitment })

export const sendOptions = options({
  skipPreflight: flag,
  preflightCommitment: commitment,
  minContextSlot,
  encoding: onlyBase64,
})

export const simulateOptions = options({
  commitment,
  minContextSlot,
  encoding: onlyBase64,
  sigVerify: flag,
  replaceRecentBlockhash: flag,
  innerInstructions: flag,
  accounts: given(z.object({ addresses: z.array(address), encoding: accountEncoding })),
})

const atLeastConfirmed = commitment.refine(
  (level) => level !== "processed",
  "Method does not support commitment below `confirmed`",
)

export const blockOptions = options({
  commitment: atLeastConfirmed,
  encoding: onlyBase64,
  transactionDetails: z.literal("full", "unsupported. Supported transactionDetails: full").nullish(),
  maxSupportedTransactionVersion: given(z.int().min(0).max(255)),
})

export const blocksOptions = options({ commitment: atLeastConfirmed })
/** The end of a range, or the options in its place. */
export const endSlot = z.union([u64, blocksOptions]).nullish()

/** The outputs of a list of schemas. */
export type Outputs<T extends readonly z.ZodType[]> = { [K in keyof T]: z.output<T[K]> }

/** Reads a method's positional parameters; missing ones read as undefined. Throws RpcError at the first wrong one. */
export const readParams = <const T extends readonly z.ZodType[]>(
  schemas: T,
  params: readonly unknown[],
): Outputs<T> => {
  if (params.length > schemas.length) {
    throw invalidParams(`Invalid params: at most ${schemas.length} expected, got ${params.length}`)
  }
  const values = schemas.map((schema, position): unknown => {
    const result = schema.safeParse(params[position], inOwnWords)
    if (result.success) return result.data
    const issue = result.error.issues[0]
    const path = [position, ...(issue?.path ?? [])].join(".")
    throw invalidParams(`Invalid params: ${path}: ${issue?.message ?? "not understood"}`)
  })
  // Each value is its schema's output, in order, which an array's type can't express.
  return values as Outputs<T>
}
