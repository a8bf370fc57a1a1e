import { z } from "zod"
import { checkMessage, decodeBase64 } from "../wire.ts"
import { base64, chainView, exactU64, viewParams, withSlot } from "./fields.ts"
import { type Definition, KiB, type Route } from "./route.ts"

const definition = {
  path: "/transactions/v1/fee",
  operation: "fee",
  summary: "Fee of a message",
  scope: "transaction:inspect",
  class: "inspect",
  method: "getFeeForMessage",
  maxResponseBytes: 64 * KiB,
  request: z.strictObject({ message: base64, ...chainView }),
  response: z.object({
    feeLamports: exactU64
      .nullable()
      .meta({ description: "null if the provider doesn't know the blockhash, for example because it has expired." }),
    contextSlot: exactU64,
  }),
  codes: ["invalid_base64", "transaction_too_large", "invalid_transaction"],
} as const satisfies Definition

export const fee: Route = {
  ...definition,
  register: (app, relay) => {
    app.openapi(relay.route(definition), async (c) => {
      const { message, ...view } = c.req.valid("json")
      const { maxBytes, verify } = relay.rules(c)
      checkMessage(decodeBase64(message, "message", maxBytes), verify)
      const body = await relay.read(c, definition, [message, viewParams(view)], (result) => {
        const { value, contextSlot } = withSlot(result)
        return { feeLamports: value, contextSlot }
      })
      return c.json(body, 200)
    })
  },
}
