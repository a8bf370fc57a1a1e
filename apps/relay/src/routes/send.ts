import { z } from "zod"
import { checkSigned, decodeBase64, hasNonce } from "../wire.ts"
import { base64, chainView, commitment, minSlotParam } from "./fields.ts"
import { type Definition, KiB, type Route } from "./route.ts"

const definition = {
  path: "/transactions/v1/send",
  operation: "send",
  summary: "Send a transaction, once",
  scope: "transaction:send",
  class: "send",
  method: "sendTransaction",
  maxResponseBytes: 64 * KiB,
  request: z.strictObject({
    transaction: base64.meta({ description: "A fully signed wire transaction." }),
    skipPreflight: z.boolean().default(false).meta({ description: "Whether to skip the provider's simulation." }),
    preflightCommitment: commitment.default("confirmed").meta({ description: "Which state that simulation reads." }),
    minContextSlot: chainView.minContextSlot,
  }),
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
} as const satisfies Definition

export const send: Route = {
  ...definition,
  register: (app, relay) => {
    app.openapi(relay.route(definition), async (c) => {
      const { transaction, skipPreflight, preflightCommitment, minContextSlot } = c.req.valid("json")
      const { maxBytes, verify } = relay.rules(c)
      const bytes = decodeBase64(transaction, "transaction", maxBytes)
      const signature = await checkSigned(bytes, verify)
      const options = {
        encoding: "base64",
        skipPreflight,
        preflightCommitment,
        maxRetries: 0,
        ...minSlotParam(minContextSlot),
      }
      await relay.send(c, definition, [transaction, options], { signature, hasNonce: () => hasNonce(bytes) })
      return c.json({ signature }, 200)
    })
  },
}
