import { z } from "zod"
import { chainView, exactU64, viewParams } from "./fields.ts"
import { KiB, readRoute } from "./route.ts"

export const blockHeight = readRoute({
  path: "/transactions/v1/block-height",
  operation: "block_height",
  summary: "Block height",
  scope: "transaction:inspect",
  class: "status",
  method: "getBlockHeight",
  maxAnswerBytes: 64 * KiB,
  request: z.strictObject(chainView),
  response: z.object({ blockHeight: exactU64 }),
  codes: [],
  prepare: (body) => [viewParams(body)],
  arrange: (result) => ({ blockHeight: result }),
})
