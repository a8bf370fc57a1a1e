import { z } from "zod"
import { fitsU64 } from "./exact-json.ts"

const u64 = z
  .string()
  .regex(/^(0|[1-9][0-9]*)$/, "must be a decimal string without leading zeros")
  .max(20)
  .refine(fitsU64, "must be at most 18446744073709551615")
  .meta({ description: "An unsigned 64-bit integer as a decimal string.", example: "18446744073709551615" })

const commitment = z.enum(["processed", "confirmed", "finalized"])

const base64 = z.string().meta({ description: "Canonical, padded base64 (standard alphabet).", format: "byte" })

const chainView = {
  commitment: commitment.nullish().meta({ description: "How settled the state must be; confirmed unless given." }),
  minContextSlot: u64.nullish().meta({ description: "The provider must have seen this slot." }),
}

export const latestBlockhashRequest = z.strictObject(chainView)
export const blockHeightRequest = z.strictObject(chainView)

export const feeRequest = z.strictObject({ message: base64, ...chainView })

export const simulateRequest = z.strictObject({
  transaction: base64.meta({ description: "A wire transaction; its signatures may be all zeros." }),
  ...chainView,
  sigVerify: z.boolean().default(false),
  replaceRecentBlockhash: z.boolean().default(false).meta({ description: "Excludes sigVerify." }),
  innerInstructions: z.boolean().default(false),
  accounts: z
    .strictObject({ addresses: z.array(z.string()).meta({ description: "At most 16 base58 addresses." }) })
    .optional()
    .meta({ description: "Accounts whose state after the simulation is wanted." }),
})

export const signatureStatusRequest = z.strictObject({
  signature: z.string().meta({ description: "A transaction's first signature, base58 of 64 bytes." }),
  searchTransactionHistory: z.boolean().default(false),
})

export const sendRequest = z.strictObject({
  transaction: base64.meta({ description: "A fully signed wire transaction." }),
  skipPreflight: z.boolean().default(false),
  preflightCommitment: commitment.default("confirmed"),
  minContextSlot: chainView.minContextSlot,
})

const count = u64.nullable()
// The chain's own words, passed on as they are.
const chainError = z.union([z.null(), z.string(), z.record(z.string(), z.any())])
const encoded = z.array(z.string()).meta({ description: 'The bytes and their encoding: [base64, "base64"].' })

export const latestBlockhashResponse = z.object({ blockhash: z.string(), contextSlot: u64, lastValidBlockHeight: u64 })
export const blockHeightResponse = z.object({ blockHeight: u64 })
export const feeResponse = z.object({
  feeLamports: count.meta({ description: "null when the blockhash has expired." }),
  contextSlot: u64,
})

const account = z.object({
  lamports: u64,
  owner: z.string(),
  data: encoded,
  executable: z.boolean(),
  rentEpoch: u64.optional(),
  space: u64.optional(),
})

export const simulateResponse = z.object({
  contextSlot: u64,
  err: chainError.meta({ description: "null when the simulation succeeded." }),
  logs: z.array(z.string()).nullable(),
  unitsConsumed: count,
  loadedAccountsDataSize: count,
  returnData: z.object({ programId: z.string(), data: encoded }).nullable(),
  innerInstructions: z.array(z.any()).nullable(),
  accounts: z.array(account.nullable()).nullable(),
  replacementBlockhash: z.object({ blockhash: z.string(), lastValidBlockHeight: u64 }).nullable(),
})

export const signatureStatusResponse = z.object({
  status: z
    .object({
      slot: u64,
      confirmations: count.meta({ description: "null means rooted." }),
      confirmationStatus: commitment.nullable(),
      err: chainError.meta({ description: "null when the transaction succeeded." }),
    })
    .nullable()
    .meta({ description: "null when the provider has not seen the signature." }),
  contextSlot: u64.meta({ description: "The slot up to which the provider looked." }),
})

export const sendResponse = z.object({
  signature: z.string().meta({ description: "The transaction's first signature, base58 of 64 bytes." }),
})

export const errorEnvelope = z.object({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean().meta({ description: "Whether the same request may succeed later." }),
  requestId: z.string(),
  submissionState: z
    .enum(["not_submitted", "unknown"])
    .optional()
    .meta({ description: "On every error of send: whether the transaction is proven not to have been submitted." }),
  signature: z.string().optional().meta({ description: "With an unknown submission: the signature to look up." }),
  details: z
    .union([
      z.strictObject({ path: z.string(), reason: z.string() }),
      z.strictObject({
        code: z.int(),
        message: z.string().max(256),
        data: z
          .strictObject({ err: chainError, logs: z.array(z.string()), unitsConsumed: u64 })
          .partial()
          .optional(),
      }),
    ])
    .meta({ id: "ErrorDetails", description: "The first failure of a refused body, or the provider's error." })
    .optional(),
})

export const healthResponse = z.object({
  status: z.literal("ok"),
  version: z.string(),
  transactions: z.object({ enabled: z.boolean() }),
})
