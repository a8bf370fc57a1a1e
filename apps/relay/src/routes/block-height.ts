import { z } from "zod"
import { chainView, exactU64, viewParams } from "./fields.ts"
import { type Definition, KiB, type Route } from "./route.ts"

const definition = {
  path: "/transactions/v1/block-height",
  operation: "block_height",
  summary: "Block height",
  scope: "transaction:inspect",
  class: "status",
  method: "getBlockHeight",
  maxResponseBytes: 64 * KiB,
  request: z.strictObject(chainView),
  response: z.object({ blockHeight: exactU64 }),
  codes: [],
} as const satisfies Definition

export const blockHeight: Route = {
  ...definition,
  register: (app, relay) => {
    app.openapi(relay.route(definition), async (c) => {
      const params = [viewParams(c.req.valid("json"))]
      return c.json(await relay.read(c, definition, params, (result) => ({ blockHeight: result })), 200)
    })
  },
}
