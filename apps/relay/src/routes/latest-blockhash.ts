import { z } from "zod"
import { chainView, exactU64, flatWithSlot, viewParams } from "./fields.ts"
import { KiB, readRoute } from "./route.ts"

export const latestBlockhash = readRoute({
  path: "/transactions/v1/latest-blockhash",
  operation: "latest_blockhash",
  summary: "Latest blockhash",
  scope: "transaction:inspect",
  class: "inspect",
  method: "getLatestBlockhash",
  maxAnswerBytes: 64 * KiB,
  request: z.strictObject(chainView),
  response: z.object({ blockhash: z.string(), contextSlot: exactU64, lastValidBlockHeight: exactU64 }),
  codes: [],
  prepare: (body) => [viewParams(body)],
  arrange: flatWithSlot,
})
