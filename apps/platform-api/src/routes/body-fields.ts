// Fields that several request bodies share.
import { z } from "@svc/openapi"
import { stackNamePattern } from "../records/stack-names.ts"

const storable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

export const prose = (max: number) =>
  z.string().max(max, `must be at most ${max} characters`).refine(storable, "has a character that can't be stored")

const mostRecords = 2_147_483_647

/** A record's number. 0 stands for a number that no record can have. */
export const recordNumber = z
  .int()
  .min(0)
  .overwrite((number) => (number <= mostRecords ? number : 0))

export const specName = z
  .string()
  .toLowerCase()
  .regex(stackNamePattern, "must have 1 to 63 letters, digits and dashes, not start with a dash, and not be `changes`")
  .meta({ description: "The stack's name: lower-case letters, digits and dashes" })

// To zod an unknown value may be missing: a body that needs one says `required` itself.
export const astPayload = z.unknown().meta({ type: "object", description: "The AST: a stack file" })

/** An object whose optional members may be null, as some clients write what isn't set. A member that takes null itself gets it. */
export const nullAsAbsent = <S extends z.ZodObject>(schema: S): S => {
  const optional = Object.entries<z.ZodType>(schema.shape).flatMap(([name, member]) => {
    const isOptional = member.safeParse(undefined).success && !member.safeParse(null).success
    return isOptional ? [[name, z.preprocess((value) => value ?? undefined, member.nullable())]] : []
  })
  // The members' types are the same once they are read.
  return schema.safeExtend(Object.fromEntries(optional)).meta(schema.meta() ?? {}) as z.ZodObject as S
}

export const nothing = z.strictObject({})
