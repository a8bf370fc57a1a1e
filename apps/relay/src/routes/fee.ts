import { z } from "zod"
import { checkMessage, decodeBase64 } from "../wire.ts"
import { base64, chainView, exactU64, viewParams, withSlot } from "./fields.ts"
import { KiB, readRoute } from "./route.ts"

export const fee = readRoute({
  path: "/transactions/v1/fee",
  operation: "fee",
  summary: "Fee of a message",
  scope: "transaction:inspect",
  class: "inspect",
  method: "getFeeForMessage",
  maxAnswerBytes: 64 * KiB,
  request: z.strictObject({ message: base64, ...chainView }),
  response: z.object({
    feeLamports: exactU64
      .nullable()
      .meta({ description: "null if the provider doesn't know the blockhash, for example because it has expired." }),
    contextSlot: exactU64,
  }),
  codes: ["invalid_base64", "transaction_too_large", "invalid_transaction"],
  prepare: (body, { maxBytes, verify }) => {
    checkMessage(decodeBase64(body.message, "message", maxBytes), verify)
    return [body.message, viewParams(body)]
  },
  arrange: (result) => {
    const { value, contextSlot } = withSlot(result)
    return { feeLamports: value, contextSlot }
  },
})
