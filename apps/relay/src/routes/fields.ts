import { commitments } from "@svc/common/chain-constants"
import { z } from "zod"
import { fitsU64, isShallow, u64Text } from "../upstream/exact-json.ts"

// What callers write.

/** A 64-bit integer as callers write it. */
export const u64 = z
  .string()
  .regex(/^(0|[1-9][0-9]*)$/, "must be a decimal string without leading zeros")
  .max(20)
  .refine(fitsU64, "must be at most 18446744073709551615")
  .meta({ description: "A u64 as a decimal string.", example: "18446744073709551615" })

export const commitment = z.enum(commitments)

export const base64 = z.string().meta({ description: "Canonical, padded base64 (standard alphabet).", format: "byte" })

/** From where the chain is looked at. */
export const chainView = {
  commitment: commitment.nullish().meta({ description: "Which state to read; default confirmed." }),
  minContextSlot: u64.nullish().meta({ description: "The provider must have seen this slot." }),
}

const view = z.object(chainView)

/** The provider's form of the slot: a JSON number, exact beyond 2^53 too. */
export const minSlotParam = (slot: string | null | undefined) =>
  slot == null ? {} : { minContextSlot: JSON.rawJSON(slot) }

export const viewParams = ({ commitment: wanted, minContextSlot }: z.output<typeof view>) => ({
  commitment: wanted ?? "confirmed",
  ...minSlotParam(minContextSlot),
})

// What the provider answers, read and written by one schema: what doesn't fit is malformed.

/** A JSON number of the provider's, as exact decimal text. */
export const exactU64 = z.preprocess(u64Text, u64)

/** The chain's own words, passed on as they are. */
export const chainError = z
  .unknown()
  .refine((value) => value !== undefined && isShallow(value))
  .meta({ anyOf: [{ type: "null" }, { type: "string" }, { type: "object", additionalProperties: {} }] })

export const encodedBytes = z
  .array(z.string())
  .meta({ description: 'The bytes and their encoding: [base64, "base64"].' })

const inContext = z.object({ context: z.object({ slot: z.unknown() }), value: z.unknown() })
const inContextFlat = inContext.extend({ value: z.looseObject({}) })

/** A result that says in which slot it is true: its value and that slot. */
export const withSlot = (result: unknown) => {
  const { context, value } = inContext.parse(result)
  return { value, contextSlot: context.slot }
}

/** The same, with the members of the value beside the slot. */
export const flatWithSlot = (result: unknown) => {
  const { context, value } = inContextFlat.parse(result)
  return { ...value, contextSlot: context.slot }
}
