import { recogniseKey } from "@svc/keys"
import { isoTime } from "../db/time.ts"
import type { ErrorCode } from "../errors.ts"
import type { FindKey } from "./find-key.ts"

type Profile = {
  readonly slug: string
  readonly display_name: string
  readonly status: "active"
  readonly created_at: string
  readonly last_seen_at: string
}

/** Who asks, once the key has passed every check of the key itself. */
export type Principal = {
  readonly keyId: number
  readonly userId: number
  readonly keyClass: "secret" | "publishable"
  /** The page's origin, for a publishable key. */
  readonly origin: string | undefined
  /** When the key's use was last written down, as the database has it. */
  readonly lastUsedAt: string | null
} & ({ readonly kind: "agent"; readonly profile: Profile } | { readonly kind: "human" })

export type Refusal = {
  readonly refused: Extract<
    ErrorCode,
    | "missing-credentials"
    | "invalid-authorization-format"
    | "invalid-api-key"
    | "disabled-api-key"
    | "expired-api-key"
    | "user-not-found"
    | "agent-profile-missing"
    | "agent-account-disabled"
    | "origin-required"
    | "origin-not-allowed"
  >
}

const bearer = /^bearer +([^\s,]+) *$/i

/**
 * Finds out who sends a request. Throws DatabaseUnavailable.
 * @param now wall clock, in milliseconds since 1970
 */
export const authenticate = async (
  findKey: FindKey,
  headers: { readonly authorization: string | undefined; readonly origin: string | undefined },
  now: number,
): Promise<Principal | Refusal> => {
  if (headers.authorization === undefined) return { refused: "missing-credentials" }
  const key = bearer.exec(headers.authorization)?.[1]
  if (key === undefined) return { refused: "invalid-authorization-format" }
  if (recogniseKey(key) === undefined) return { refused: "invalid-api-key" }
  const row = await findKey(key)
  if (row === undefined) return { refused: "invalid-api-key" }
  if (row.disabled) return { refused: "disabled-api-key" }
  if (row.expires_at !== null && Date.parse(isoTime(row.expires_at)) <= now) return { refused: "expired-api-key" }
  if (row.kind === null) return { refused: "user-not-found" }
  if (row.kind === "agent") {
    if (row.slug === null) return { refused: "agent-profile-missing" }
    if (row.status !== "active") return { refused: "agent-account-disabled" }
  }
  if (row.key_class === "publishable") {
    if (headers.origin === undefined) return { refused: "origin-required" }
    if (row.allowed_origin !== headers.origin) return { refused: "origin-not-allowed" }
  }
  const common = {
    keyId: row.id,
    userId: row.user_id,
    keyClass: row.key_class,
    origin: row.key_class === "publishable" ? headers.origin : undefined,
    lastUsedAt: row.last_used_at,
  }
  if (row.kind === "human") return { ...common, kind: "human" }
  const profile: Profile = {
    slug: row.slug ?? "",
    display_name: row.display_name,
    status: "active",
    created_at: isoTime(row.created_at),
    last_seen_at: isoTime(row.last_seen_at),
  }
  return { ...common, kind: "agent", profile }
}
