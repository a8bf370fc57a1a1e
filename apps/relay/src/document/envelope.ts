import { z } from "zod"
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
    .meta({ description: "On every error of send: whether it is proven that the transaction wasn't submitted." }),
  signature: z.string().optional().meta({ description: "With an unknown submission: the signature to look up." }),
  hint: z.string().optional().meta({ description: "The next step, in a sentence." }),
  docs: z.url().meta({ description: "The documentation's row that explains the code." }),
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

/** What a service says of itself at its bare address. */
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
    .meta({ description: "Who counts the limits: a store for all replicas, or each replica for itself." }),
  transactions: z.object({
    enabled: z.boolean(),
    answering: z
      .string()
      .optional()
      .meta({ description: "With fallbacks for reads: which provider gave the last response.", example: "fallback-1" }),
    chain: z
      .object({
        genesis_hash: z.string().meta({ description: "The chain's genesis hash, base58." }),
        network: z
          .string()
          .optional()
          .meta({ description: "Of a public network: mainnet, devnet or testnet.", example: "devnet" }),
        faucet: z
          .url()
          .optional()
          .meta({ description: "Of a chain on this machine: where `requestAirdrop` gives test funds." }),
      })
      .optional()
      .meta({ description: "With `chain=true`: the provider's chain, if the provider tells it." }),
  }),
})

export const probeResponse = z.object({
  status: z.enum(["ok", "unavailable"]),
  missing: z.array(z.enum(["session-keys", "time"])).meta({ description: "time: it is stopping." }),
})
