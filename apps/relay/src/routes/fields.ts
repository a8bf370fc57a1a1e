import { commitments } from "@svc/common/chain-constants"
import { z } from "zod"
import { fitsU64, isShallow, u64Text } from "../upstream/exact-json.ts"

// Fields of requests.

/** A 64-bit integer in a request. */
export const u64 = z
  .string()
  .regex(/^(0|[1-9][0-9]*)$/, "must be a decimal string without leading zeros")
  .max(20)
  .refine(fitsU64, "must be at most 18446744073709551615")
  .meta({ description: "A u64 as a decimal string.", example: "18446744073709551615" })

export const commitment = z.enum(commitments)

export const base64 = z.string().meta({ description: "Canonical, padded base64 (standard alphabet).", format: "byte" })

/** The state of the chain that a call reads. */
export const chainView = {
  commitment: commitment.nullish().meta({ description: "Which state to read; default confirmed." }),
  minContextSlot: u64.nullish().meta({ description: "The provider must have seen this slot." }),
}

const view = z.object(chainView)

/** The slot for the provider: a JSON number, exact even beyond 2^53. */
export const minSlotParam = (slot: string | null | undefined) =>
  slot == null ? {} : { minContextSlot: JSON.rawJSON(slot) }

export const viewParams = ({ commitment: wanted, minContextSlot }: z.output<typeof view>) => ({
  commitment: wanted ?? "confirmed",
  ...minSlotParam(minContextSlot),
})

// Fields of the provider's result. The schema of the response parses it, so a result that doesn't fit is malformed.

/** A JSON number of the provider, as exact decimal text. */
export const exactU64 = z.preprocess(u64Text, u64)

/** The same, left out if it can't be read. */
export const readableU64 = z.preprocess(u64Text, u64.optional()).meta({ type: "string" })

/** An error of the chain, passed on unchanged. */
export const chainError = z
  .unknown()
  .refine((value) => value !== undefined && isShallow(value))
  .meta({ anyOf: [{ type: "null" }, { type: "string" }, { type: "object", additionalProperties: {} }] })

export const encodedBytes = z
  .array(z.string())
  .meta({ description: 'The bytes and their encoding: [base64, "base64"].' })

const inContext = z.object({ context: z.object({ slot: z.unknown() }), value: z.unknown() })
const inContextFlat = inContext.extend({ value: z.looseObject({}) })

/** Reads a result with a context: its value, and the slot of its context. */
export const withSlot = (result: unknown) => {
  const { context, value } = inContext.parse(result)
  return { value, contextSlot: context.slot }
}

/** The same, but with the members of the value next to the slot. */
export const flatWithSlot = (result: unknown) => {
  const { context, value } = inContextFlat.parse(result)
  return { ...value, contextSlot: context.slot }
}
