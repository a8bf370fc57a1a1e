import { z } from "@svc/openapi"
import { keyStatus, type StoredKey } from "../../auth/account-keys.ts"
import { nameFault, nameLength, normaliseName } from "../../auth/name.ts"
import { normaliseOrigin } from "../../auth/origin.ts"
import { originsPerKey } from "../../db/schema/index.ts"
import { wrongField } from "../../errors.ts"

const keyClass = z
  .enum(["secret", "publishable"])
  .meta({ description: "`publishable` is for browser pages of one origin" })
export const keyRecord = z.object({
  id: z.int(),
  name: z.string(),
  key_class: keyClass,
  key_hint: z.string().meta({ description: "Its prefix and its last four characters" }),
  origin_allowlist: z.array(z.string()).nullable(),
  status: z.enum(["active", "disabled", "expired"]),
  current: z.boolean().meta({ description: "Whether this request used it" }),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  last_used_at: z.iso.datetime().nullable().meta({ description: "null if it was never used" }),
  replaced_by: z.int().optional().meta({ description: "Its successor, if it was rotated" }),
})
export const minted = z.object({
  id: z.int(),
  key: z.string().meta({ description: "The whole key, shown only once" }),
  name: z.string(),
  key_class: keyClass,
  origin_allowlist: z.array(z.string()).nullable(),
  expires_at: z.iso.datetime().nullable(),
  message: z.string(),
})
export const rotated = minted.extend({
  replaces: z.int().meta({ description: "The old key's id" }),
  old_expires_at: z.iso.datetime().meta({ description: "When the old key expires" }),
})
export const revoked = z.object({
  id: z.int(),
  revoked: z.literal(true),
  remaining_secret_keys: z.int().meta({ description: "How many secret keys the account has left" }),
})
const nameMeaning = `The name in the key list, ${nameLength}`
const nameOr = (usual: string) => z.string().default(usual).meta({ description: nameMeaning })
const maxDays = 3650
const secretFields = {
  name: nameOr("rotation"),
  expires_in_days: z
    .int(`must be an integer from 1 to ${maxDays}`)
    .min(1)
    .max(maxDays)
    .meta({ description: "When it expires. Default: never for a secret key, after a year for a publishable key" })
    .optional(),
  expires_at: z.iso
    .datetime({ offset: true, error: "must be a date and time such as 2030-01-31T00:00:00Z" })
    .meta({ description: "When it expires, in place of `expires_in_days`" })
    .optional(),
}
type Expiry = { readonly expires_in_days?: number | undefined; readonly expires_at?: string | undefined }
const hasOneExpiry = ({ expires_in_days, expires_at }: Expiry): boolean =>
  expires_in_days === undefined || expires_at === undefined
const both = { path: ["expires_at"], message: "can't be used together with expires_in_days" }

// A member that was ignored could have been a restriction of the key.
export const secretBody = z.strictObject(secretFields).refine(hasOneExpiry, both)
export const publishableBody = z
  .strictObject({
    ...secretFields,
    name: nameOr("publishable"),
    // Its faults have codes of their own, a missing one too, so `originsOf` checks it.
    origin_allowlist: z
      .unknown()
      .optional()
      .meta({
        type: "array",
        items: { type: "string" },
        minItems: 1,
        maxItems: originsPerKey,
        description: "Exactly one origin",
      }),
  })
  .refine(hasOneExpiry, both)
  .meta({ required: ["origin_allowlist"] })

const dayMs = 86_400_000

/** When a key that is minted at a time expires. Throws invalid-request. */
export const expiryOf = ({ expires_in_days, expires_at }: Expiry, at: Date, usualDays?: number): Date | undefined => {
  const days = expires_in_days ?? usualDays
  if (expires_at === undefined) return days === undefined ? undefined : new Date(at.getTime() + days * dayMs)
  const wanted = new Date(expires_at)
  if (wanted > at && wanted.getTime() <= at.getTime() + maxDays * dayMs) return wanted
  throw wrongField("invalid-request", "expires_at", `must be in the future, within ${maxDays} days`)
}

const maxOverlapSeconds = 604_800
export const rotateBody = z.strictObject({
  name: z
    .string()
    .optional()
    .meta({ description: `${nameMeaning}. Default: the old key's name` }),
  overlap_seconds: z
    .int(`must be an integer from 0 to ${maxOverlapSeconds}`)
    .min(0)
    .max(maxOverlapSeconds)
    .default(3600)
    .meta({ description: "How long the old key stays valid; 0 ends it at once" }),
})

/** Throws invalid-key-name. */
export const keyName = (text: string): string => {
  const name = normaliseName(text)
  if (name === undefined) throw wrongField("invalid-key-name", "name", nameFault)
  return name
}

/** The origins of a publishable key. Throws the code that fits the fault. */
export const originsOf = (list: unknown): readonly string[] => {
  if (!Array.isArray(list)) {
    const reason = list === undefined ? "is missing" : "must be an array"
    throw wrongField("missing-origin-allowlist", "origin_allowlist", reason)
  }
  const number = "must hold exactly one origin"
  if (list.length === 0) throw wrongField("origin-allowlist-empty", "origin_allowlist", number)
  if (list.length > originsPerKey) throw wrongField("origin-allowlist-too-many", "origin_allowlist", number)
  return list.map((given: unknown, index) => {
    const path = `origin_allowlist[${index}]`
    if (typeof given !== "string") throw wrongField("invalid-request", path, "must be a string")
    const normalised = normaliseOrigin(given)
    if ("origin" in normalised) return normalised.origin
    const reason =
      normalised.fault === "origin-invalid-scheme"
        ? "must start with http:// or https://"
        : "must be a scheme, a host and optionally a port, and nothing else"
    throw wrongField(normalised.fault, path, reason)
  })
}

export const present = (row: StoredKey, at: Date, callingKey: number): z.infer<typeof keyRecord> => ({
  id: row.id,
  name: row.name,
  key_class: row.keyClass,
  key_hint: `${row.prefix}…${row.lastFour}`,
  origin_allowlist: row.originAllowlist,
  status: keyStatus(row, at),
  current: row.id === callingKey,
  created_at: row.createdAt.toISOString(),
  expires_at: row.expiresAt?.toISOString() ?? null,
  last_used_at: row.lastUsedAt?.toISOString() ?? null,
  ...(row.replacedBy === null ? {} : { replaced_by: row.replacedBy }),
})

type MadeKey = {
  readonly id: number
  readonly text: string
  readonly name: string
  readonly origins: readonly string[] | undefined
  readonly expiresAt: Date | undefined
}

export const presentMade = (key: MadeKey): z.infer<typeof minted> => ({
  id: key.id,
  key: key.text,
  name: key.name,
  key_class: key.origins === undefined ? "secret" : "publishable",
  origin_allowlist: key.origins === undefined ? null : [...key.origins],
  expires_at: key.expiresAt?.toISOString() ?? null,
  message: "Store the key now. It isn't shown again and can't be recovered.",
})
