import { z } from "zod"
import { networks } from "../chain.ts"
import { u64 } from "../routes/fields.ts"

/** The body of every error. */
export const errorEnvelope = z.object({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean().meta({ description: "Whether the same request may succeed later." }),
  requestId: z.string(),
  submissionState: z
    .enum(["not_submitted", "unknown"])
    .optional()
    .meta({ description: "On every error of send: `not_submitted` if that is proven, else `unknown`." }),
  signature: z.string().optional().meta({
    description: "On errors of send, once the request is checked: the transaction's first signature, to look up.",
  }),
  hint: z.string().optional().meta({ description: "The next step, in one sentence." }),
  docs: z.url().meta({ description: "The documentation of the code." }),
  details: z
    .union([
      z.strictObject({ path: z.string(), reason: z.string() }),
      z.strictObject({
        code: z.int(),
        message: z.string().max(256),
        data: z
          .strictObject({
            err: z.union([z.null(), z.string(), z.record(z.string(), z.any())]),
            logs: z.array(z.string()),
            unitsConsumed: u64,
          })
          .partial()
          .optional(),
      }),
    ])
    .meta({ id: "ErrorDetails", description: "The first fault of a rejected body, or the provider's error." })
    .optional(),
})

/** The response at the bare address. */
export const aboutResponse = z.object({
  name: z.string(),
  version: z.string(),
  docs: z.url(),
  openapi: z.url(),
  health: z.url(),
})

export const healthResponse = z.object({
  status: z.literal("ok"),
  version: z.string(),
  limits: z
    .enum(["shared", "local"])
    .meta({ description: "Where the limits are counted: in a store for all replicas, or in each replica." }),
  transactions: z.object({
    enabled: z.boolean(),
    answering: z
      .string()
      .optional()
      .meta({ description: "With fallbacks for reads: the provider that responded last.", example: "fallback-1" }),
    chain: z
      .object({
        genesis_hash: z.string().meta({ description: "The chain's genesis hash, base58." }),
        network: z
          .string()
          .optional()
          .meta({
            description: `The name of a public network: ${Object.values(networks).join(", ")}.`,
            example: "devnet",
          }),
        faucet: z
          .url()
          .optional()
          .meta({ description: "For a chain on this machine: the URL where `requestAirdrop` gives test funds." }),
      })
      .optional()
      .meta({ description: "With `chain=true`: the provider's chain, if it is known." }),
  }),
})

export const probeResponse = z.object({
  status: z.enum(["ok", "unavailable"]),
  missing: z.array(z.enum(["session-keys", "time"])).meta({ description: "`time`: the relay is stopping." }),
})
