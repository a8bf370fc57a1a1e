import { z } from "zod"
import { isShallow, u64Text } from "./exact-json.ts"

// The provider's results, read once: whatever doesn't fit is a malformed answer.

const u64 = z.unknown().transform((value, context) => {
  const text = u64Text(value)
  if (text !== undefined) return text
  context.addIssue({ code: "custom", message: "no u64" })
  return z.NEVER
})

const passedOn = z.unknown().refine((value) => isShallow(value))
const encoded = z.array(z.string())
const orNull = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? null)
const context = z.object({ slot: u64 })

const latestBlockhash = z.object({
  context,
  value: z.object({ blockhash: z.string(), lastValidBlockHeight: u64 }),
})

export const readLatestBlockhash = (result: unknown) => {
  const { context: at, value } = latestBlockhash.parse(result)
  return { blockhash: value.blockhash, contextSlot: at.slot, lastValidBlockHeight: value.lastValidBlockHeight }
}

export const readBlockHeight = (result: unknown) => ({ blockHeight: u64.parse(result) })

const fee = z.object({ context, value: z.union([z.null(), u64]) })

export const readFee = (result: unknown) => {
  const { context: at, value } = fee.parse(result)
  return { feeLamports: value, contextSlot: at.slot }
}

const account = z.object({
  lamports: u64,
  owner: z.string(),
  data: encoded,
  executable: z.boolean(),
  rentEpoch: u64.optional(),
  space: u64.optional(),
})

const simulation = z.object({
  context,
  value: z.object({
    err: orNull(passedOn),
    logs: orNull(z.array(z.string())),
    unitsConsumed: orNull(u64),
    loadedAccountsDataSize: orNull(u64),
    returnData: orNull(z.object({ programId: z.string(), data: encoded })),
    innerInstructions: orNull(z.array(z.unknown()).refine((value) => isShallow(value))),
    accounts: orNull(z.array(account.nullable())),
    replacementBlockhash: orNull(z.object({ blockhash: z.string(), lastValidBlockHeight: u64 })),
  }),
})

export const readSimulation = (result: unknown) => {
  const { context: at, value } = simulation.parse(result)
  return { contextSlot: at.slot, ...value }
}

// `confirmations: null` means rooted and `err: null` means success: neither may be guessed from a missing member.
const status = z.object({
  slot: u64,
  confirmations: z.union([z.null(), u64]),
  confirmationStatus: orNull(z.enum(["processed", "confirmed", "finalized"])),
  err: z.unknown(),
})

const statuses = z.object({ context, value: z.array(z.unknown()).min(1) })

export const readSignatureStatus = (result: unknown) => {
  const { context: at, value } = statuses.parse(result)
  const [first] = value
  if (first === null) return { status: null, contextSlot: at.slot }
  return { status: status.refine(({ err }) => err !== undefined && isShallow(err)).parse(first), contextSlot: at.slot }
}
