import { validate } from "@svc/openapi"
import { z } from "zod"
import { checkSigned, decodeBase64 } from "../wire.ts"
import { base64, chainView, commitment, minSlotParam } from "./fields.ts"
import { KiB, type SendRoute } from "./route.ts"

const request = z.strictObject({
  transaction: base64.meta({ description: "A fully signed wire transaction." }),
  skipPreflight: z.boolean().default(false).meta({ description: "Whether to skip the provider's simulation." }),
  preflightCommitment: commitment.default("confirmed").meta({ description: "Which state that simulation reads." }),
  minContextSlot: chainView.minContextSlot,
})

export const send: SendRoute = {
  path: "/transactions/v1/send",
  operation: "send",
  summary: "Send a transaction, once",
  scope: "transaction:send",
  class: "send",
  method: "sendTransaction",
  maxAnswerBytes: 64 * KiB,
  request,
  response: z.object({
    signature: z.string().meta({ description: "The transaction's first signature, base58 of 64 bytes." }),
  }),
  codes: [
    "invalid_base64",
    "transaction_too_large",
    "invalid_transaction",
    "unsigned_transaction",
    "signature_verification_failed",
  ],
  prepare: async (body, { maxBytes, verify }) => {
    const { transaction, skipPreflight, preflightCommitment, minContextSlot } = validate(request, body)
    const signature = await checkSigned(decodeBase64(transaction, "transaction", maxBytes), verify)
    const options = {
      encoding: "base64",
      skipPreflight,
      preflightCommitment,
      maxRetries: 0,
      ...minSlotParam(minContextSlot),
    }
    return { params: [transaction, options], signature }
  },
}
