import { z } from "zod"
import { chainView, exactU64, flatWithSlot, viewParams } from "./fields.ts"
import { type Definition, KiB, type Route } from "./route.ts"

const definition = {
  path: "/transactions/v1/latest-blockhash",
  operation: "latest_blockhash",
  summary: "Latest blockhash",
  scope: "transaction:inspect",
  class: "inspect",
  method: "getLatestBlockhash",
  maxResponseBytes: 64 * KiB,
  request: z.strictObject(chainView),
  response: z.object({ blockhash: z.string(), contextSlot: exactU64, lastValidBlockHeight: exactU64 }),
  codes: [],
} as const satisfies Definition

export const latestBlockhash: Route = {
  ...definition,
  register: (app, relay) => {
    app.openapi(relay.route(definition), async (c) => {
      const params = [viewParams(c.req.valid("json"))]
      return c.json(await relay.read(c, definition, params, flatWithSlot), 200)
    })
  },
}
