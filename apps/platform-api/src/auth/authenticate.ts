import { hashKey, recogniseKey } from "@svc/keys"
import type { Queries } from "../db/database.ts"
import { isoTime } from "../db/time.ts"
import type { ErrorCode } from "../errors.ts"

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

type Row = {
  id: number
  user_id: number
  key_class: "secret" | "publishable"
  allowed_origin: string | null
  disabled: boolean
  expires_at: string | null
  last_used_at: string | null
  kind: "agent" | "human" | null
  slug: string | null
  display_name: string
  status: "active" | "disabled"
  created_at: string
  last_seen_at: string
}

// Outer joins: a key whose account or profile is gone is told apart from a key that does not exist.
const statement = `
  select k.id, k.user_id, k.key_class, k.origin_allowlist[1] as allowed_origin, k.disabled_at is not null as disabled, k.expires_at,
    k.last_used_at, u.kind, p.slug, p.display_name, p.status, p.created_at, p.last_seen_at
  from api_keys k left join users u on u.id = k.user_id left join agent_profiles p on p.user_id = k.user_id
  where k.key_hash = $1 and k.revoked_at is null`

const bearer = /^bearer +([^\s,]+) *$/i

/**
 * Finds out who sends a request, in one query. Nothing is remembered between requests, so a key that was revoked or
 * disabled is dead from the next request on, everywhere. Throws DatabaseUnavailable.
 * @param now wall clock, in milliseconds since 1970
 */
export const authenticate = async (
  queries: Queries,
  headers: { readonly authorization: string | undefined; readonly origin: string | undefined },
  now: number,
): Promise<Principal | Refusal> => {
  if (headers.authorization === undefined) return { refused: "missing-credentials" }
  const key = bearer.exec(headers.authorization)?.[1]
  if (key === undefined) return { refused: "invalid-authorization-format" }
  if (recogniseKey(key) === undefined) return { refused: "invalid-api-key" }
  const [row] = await queries.query<Row>(statement, [hashKey(key)])
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
