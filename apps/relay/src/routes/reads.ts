import { isSignature } from "@svc/common/transaction-parts"
import { z } from "zod"
import { badRequest } from "../errors.ts"
import { checkMessage, decodeBase64 } from "../wire.ts"
import { base64, chainError, chainView, commitment, exactU64, flatWithSlot, viewParams, withSlot } from "./fields.ts"
import { KiB, readRoute } from "./route.ts"

const common = { scope: "transaction:inspect", maxResponseBytes: 64 * KiB } as const

export const latestBlockhash = readRoute(
  {
    ...common,
    path: "/transactions/v1/latest-blockhash",
    operation: "latest_blockhash",
    summary: "Latest blockhash",
    class: "inspect",
    method: "getLatestBlockhash",
    request: z.strictObject(chainView),
    response: z.object({ blockhash: z.string(), contextSlot: exactU64, lastValidBlockHeight: exactU64 }),
    codes: [],
  },
  (view) => [viewParams(view)],
  flatWithSlot,
)

export const blockHeight = readRoute(
  {
    ...common,
    path: "/transactions/v1/block-height",
    operation: "block_height",
    summary: "Block height",
    class: "status",
    method: "getBlockHeight",
    request: z.strictObject(chainView),
    response: z.object({ blockHeight: exactU64 }),
    codes: [],
  },
  (view) => [viewParams(view)],
  (result) => ({ blockHeight: result }),
)

export const fee = readRoute(
  {
    ...common,
    path: "/transactions/v1/fee",
    operation: "fee",
    summary: "Fee of a message",
    class: "inspect",
    method: "getFeeForMessage",
    request: z.strictObject({ message: base64, ...chainView }),
    response: z.object({
      feeLamports: exactU64
        .nullable()
        .meta({ description: "null if the provider doesn't know the blockhash, for example because it has expired." }),
      contextSlot: exactU64,
    }),
    codes: ["invalid_base64", "transaction_too_large", "invalid_transaction"],
  },
  ({ message, ...view }, { maxBytes, verify }) => {
    checkMessage(decodeBase64(message, "message", maxBytes), verify)
    return [message, viewParams(view)]
  },
  (result) => {
    const { value, contextSlot } = withSlot(result)
    return { feeLamports: value, contextSlot }
  },
)

// `confirmations: null` means rooted and `err: null` means success, so a missing member isn't null.
const status = z.object({
  slot: exactU64,
  confirmations: exactU64.nullable().meta({ description: "null means rooted." }),
  confirmationStatus: commitment.nullable(),
  err: chainError.meta({ description: "null if the transaction succeeded." }),
})
const statuses = z.tuple([z.looseObject({}).nullable()], z.unknown())

export const signatureStatus = readRoute(
  {
    ...common,
    path: "/transactions/v1/signature-status",
    operation: "signature_status",
    summary: "Status of a signature",
    class: "status",
    method: "getSignatureStatuses",
    request: z.strictObject({
      signature: z.string().meta({ description: "A transaction's first signature, base58 of 64 bytes." }),
      searchTransactionHistory: z
        .boolean()
        .default(false)
        .meta({ description: "Whether to search the provider's history, not only the last few minutes." }),
    }),
    response: z.object({
      status: status.nullable().meta({
        description:
          "null if the provider doesn't find the signature up to contextSlot. Without searchTransactionHistory, an older transaction is null too.",
      }),
      contextSlot: exactU64.meta({ description: "The last slot that the provider searched." }),
    }),
    codes: ["invalid_signature"],
  },
  ({ signature, searchTransactionHistory }) => {
    if (isSignature(signature)) return [[signature], { searchTransactionHistory }]
    throw badRequest("invalid_signature", "signature", "must be base58 of exactly 64 bytes")
  },
  (result) => {
    const { value, contextSlot } = withSlot(result)
    const [first] = statuses.parse(value)
    return { status: first && { confirmationStatus: null, ...first }, contextSlot }
  },
)
