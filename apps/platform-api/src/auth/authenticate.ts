import { recogniseKey } from "@svc/keys"
import type { ErrorCode } from "../errors.ts"
import { type FindKey, type FoundKey, type SentKey, sentKey } from "./find-key.ts"

type Profile = {
  readonly slug: string
  readonly display_name: string
  readonly status: "active"
  readonly created_at: string
  readonly last_seen_at: string
}

type Account = { readonly kind: "agent"; readonly profile: Profile } | { readonly kind: "human" }

/** The sender of a request, after every check of the key itself. */
export type Principal = Account & {
  readonly keyId: number
  readonly userId: number
  /** The SHA-256 of the key, in hex. */
  readonly keyHash: string
  readonly keyClass: "secret" | "publishable"
  /** The page's origin, for a publishable key. */
  readonly origin: string | undefined
  /** When the key's last use was recorded. */
  readonly lastUsedAt: Date | null
  /** Whether it has a successor. A replaced key can't manage keys. */
  readonly isReplaced: boolean
  readonly isSuccessor: boolean
}

/** The account's name in tokens and in the audit log: `agent:<slug>` or `user:<id>`. */
export const accountName = (principal: Principal): string =>
  principal.kind === "agent" ? `agent:${principal.profile.slug}` : `user:${principal.userId}`

/** The codes that can reject a key at any endpoint, in the order of the checks. */
export const keyCodes = [
  "missing-credentials",
  "invalid-authorization-format",
  "invalid-api-key",
  "disabled-api-key",
  "expired-api-key",
  "user-not-found",
  "agent-profile-missing",
  "agent-account-disabled",
  "origin-required",
  "origin-not-allowed",
] as const satisfies readonly ErrorCode[]

export type Refusal = {
  readonly refused: (typeof keyCodes)[number]
  /** Instead of the code's default message and hint. */
  readonly message?: string
  readonly hint?: string
}

// Every status needs an entry here, or this doesn't compile.
const refusedStatus = {
  active: undefined,
  disabled: { refused: "agent-account-disabled" },
} as const satisfies Record<NonNullable<FoundKey["profile"]>["status"], Refusal | undefined>

const accountOf = (row: FoundKey): Account | Refusal => {
  if (row.kind === null) return { refused: "user-not-found" }
  if (row.kind === "human") return { kind: "human" }
  if (row.profile === null) return { refused: "agent-profile-missing" }
  const { slug, displayName: display_name, status, createdAt, lastSeenAt, disabledMessage: reason } = row.profile
  const refusal = refusedStatus[status]
  if (refusal !== undefined)
    return { ...refusal, ...(reason !== null && { message: `The agent account is disabled: ${reason}` }) }
  const [created_at, last_seen_at] = [createdAt.toISOString(), lastSeenAt.toISOString()]
  return { kind: row.kind, profile: { slug, display_name, status: "active", created_at, last_seen_at } }
}

const bearer = /^bearer +([^\s,]+) *$/i

/** The key in an Authorization header, checked as far as possible without a lookup. */
export const readKey = (authorization: string | undefined): SentKey | Refusal => {
  if (authorization === undefined) return { refused: "missing-credentials" }
  const key = bearer.exec(authorization)?.[1]
  if (key === undefined) return { refused: "invalid-authorization-format" }
  if (recogniseKey(key) !== undefined) return sentKey(key)
  return {
    refused: "invalid-api-key",
    message: "This isn't a key of this service. It is mistyped, cut off or of another kind.",
    hint: "Send the whole key as it was shown, without quotes. If it is lost, use another key of the account. If none is left, an agent signs up again and a person asks the operator.",
  }
}

/**
 * Finds the account of a key and checks whether the key is valid. Throws DatabaseUnavailable.
 * @param origin the Origin header
 * @param now wall clock, in milliseconds since 1970
 * @param isSuspect see FindKey
 */
export const authenticate = async (
  findKey: FindKey,
  key: SentKey,
  { origin, now, isSuspect }: { origin: string | undefined; now: number; isSuspect: boolean },
): Promise<Principal | Refusal> => {
  const row = await findKey(key, isSuspect)
  if (row === undefined) return { refused: "invalid-api-key" }
  if (row.disabledAt !== null) return { refused: "disabled-api-key" }
  if (row.expiresAt !== null && row.expiresAt.getTime() <= now) return { refused: "expired-api-key" }
  const account = accountOf(row)
  if ("refused" in account) return account
  if (row.keyClass === "publishable") {
    if (origin === undefined) return { refused: "origin-required" }
    if (row.originAllowlist?.includes(origin) !== true) return { refused: "origin-not-allowed" }
  }
  return {
    ...account,
    keyId: row.id,
    userId: row.userId,
    keyHash: key.hash,
    keyClass: row.keyClass,
    origin: row.keyClass === "publishable" ? origin : undefined,
    lastUsedAt: row.lastUsedAt,
    isReplaced: row.replacedBy !== null,
    isSuccessor: row.replaces !== null,
  }
}
