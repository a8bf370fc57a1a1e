import { z } from "zod"
import { badRequest } from "../errors.ts"
import { isSignature } from "@svc/common/transaction-parts"
import { chainError, commitment, exactU64, withSlot } from "./fields.ts"
import { type Definition, KiB, type Route } from "./route.ts"

const request = z.strictObject({
  signature: z.string().meta({ description: "A transaction's first signature, base58 of 64 bytes." }),
  searchTransactionHistory: z
    .boolean()
    .default(false)
    .meta({ description: "Whether to search the provider's history, not only the last few minutes." }),
})

// `confirmations: null` means rooted and `err: null` means success, so a missing member isn't null.
const status = z.object({
  slot: exactU64,
  confirmations: exactU64.nullable().meta({ description: "null means rooted." }),
  confirmationStatus: commitment.nullable(),
  err: chainError.meta({ description: "null if the transaction succeeded." }),
})

const statuses = z.tuple([z.looseObject({}).nullable()], z.unknown())

const definition = {
  path: "/transactions/v1/signature-status",
  operation: "signature_status",
  summary: "Status of a signature",
  scope: "transaction:inspect",
  class: "status",
  method: "getSignatureStatuses",
  maxResponseBytes: 64 * KiB,
  request,
  response: z.object({
    status: status.nullable().meta({
      description:
        "null if the provider doesn't find the signature up to contextSlot. Without searchTransactionHistory, an older transaction is null too.",
    }),
    contextSlot: exactU64.meta({ description: "The last slot that the provider searched." }),
  }),
  codes: ["invalid_signature"],
} as const satisfies Definition

export const signatureStatus: Route = {
  ...definition,
  register: (app, relay) => {
    app.openapi(relay.route(definition), async (c) => {
      const { signature, searchTransactionHistory } = c.req.valid("json")
      if (!isSignature(signature)) {
        throw badRequest("invalid_signature", "signature", "must be base58 of exactly 64 bytes")
      }
      const params = [[signature], { searchTransactionHistory }]
      const body = await relay.read(c, definition, params, (result) => {
        const { value, contextSlot } = withSlot(result)
        const [first] = statuses.parse(value)
        return { status: first && { confirmationStatus: null, ...first }, contextSlot }
      })
      return c.json(body, 200)
    })
  },
}
