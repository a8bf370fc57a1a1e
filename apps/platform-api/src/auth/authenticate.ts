import { recogniseKey } from "@svc/keys"
import { isoTime } from "../db/time.ts"
import type { ErrorCode } from "../errors.ts"
import type { FindKey, FoundKey } from "./find-key.ts"

type Profile = {
  readonly slug: string
  readonly display_name: string
  readonly status: "active"
  readonly created_at: string
  readonly last_seen_at: string
}

type Account = { readonly kind: "agent"; readonly profile: Profile } | { readonly kind: "human" }

/** Who asks, once the key has passed every check of the key itself. */
export type Principal = Account & {
  readonly keyId: number
  readonly userId: number
  readonly keyClass: "secret" | "publishable"
  /** The page's origin, for a publishable key. */
  readonly origin: string | undefined
  /** When the key's use was last written down, as the database has it. */
  readonly lastUsedAt: string | null
  /** Whether it has a successor: then it manages no keys any more. */
  readonly isReplaced: boolean
  /** Whether it is a successor. */
  readonly isSuccessor: boolean
}

/** How tokens and the audit trail name the account: `agent:<slug>` or `user:<id>`. */
export const accountName = (principal: Principal): string =>
  principal.kind === "agent" ? `agent:${principal.profile.slug}` : `user:${principal.userId}`

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
  /** What the table's text for the code does not say of this one. */
  readonly message?: string
}

const accountOf = (row: FoundKey): Account | Refusal => {
  if (row.kind === null) return { refused: "user-not-found" }
  if (row.kind === "human") return { kind: "human" }
  if (row.slug === null) return { refused: "agent-profile-missing" }
  const { slug, display_name, status } = row
  if (status !== "active") return { refused: "agent-account-disabled" }
  const [created_at, last_seen_at] = [isoTime(row.created_at), isoTime(row.last_seen_at)]
  return { kind: "agent", profile: { slug, display_name, status, created_at, last_seen_at } }
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
  if (recogniseKey(key) === undefined) {
    return {
      refused: "invalid-api-key",
      message: "This is no key of this service: mistyped, cut off, or of another kind.",
    }
  }
  const row = await findKey(key)
  if (row === undefined) return { refused: "invalid-api-key" }
  if (row.disabled) return { refused: "disabled-api-key" }
  if (row.expires_at !== null && Date.parse(isoTime(row.expires_at)) <= now) return { refused: "expired-api-key" }
  const account = accountOf(row)
  if ("refused" in account) return account
  if (row.key_class === "publishable") {
    if (headers.origin === undefined) return { refused: "origin-required" }
    if (row.allowed_origin !== headers.origin) return { refused: "origin-not-allowed" }
  }
  return {
    ...account,
    keyId: row.id,
    userId: row.user_id,
    keyClass: row.key_class,
    origin: row.key_class === "publishable" ? headers.origin : undefined,
    lastUsedAt: row.last_used_at,
    isReplaced: row.replaced_by !== null,
    isSuccessor: row.replaces !== null,
  }
}
