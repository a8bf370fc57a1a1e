import { keyPrefixes } from "@svc/keys"
import type { SQLWrapper } from "drizzle-orm"
import { pg, sql } from "../database.ts"
import { bytea, enumChecks, id, isOneOf, refersTo, time } from "./columns.ts"

const { bigint, check, date, foreignKey, index, integer, pgTable, primaryKey, text, uniqueIndex } = pg

/** The owner of keys and records: an agent, which has a profile, or a person, who has an e-mail address. */
export const users = pgTable(
  "users",
  {
    id: id(),
    kind: text({ enum: ["agent", "human"] }).notNull(),
    email: text(),
    name: text(),
    createdAt: time("created_at").notNull(),
  },
  (t) => [
    ...enumChecks(t.kind),
    check("users_email", sql`(${t.kind} = 'human') = (${t.email} is not null)`),
    uniqueIndex("users_email_unique").on(sql`lower(${t.email})`),
  ],
)

/** What an agent's account can be. */
export const agentStatuses = ["active", "disabled"] as const

export const agentProfiles = pgTable(
  "agent_profiles",
  {
    userId: integer("user_id")
      .primaryKey()
      .references(() => users.id),
    slug: text().notNull().unique(),
    displayName: text("display_name").notNull(),
    status: text({ enum: agentStatuses }).notNull().default("active"),
    createdAt: time("created_at").notNull(),
    lastSeenAt: time("last_seen_at").notNull(),
    disabledAt: time("disabled_at"),
    /** What the operator tells whoever holds the agent's keys. */
    disabledMessage: text("disabled_message"),
  },
  (t) => [
    // In bytes, up to four a character: a database in SQL_ASCII has no characters.
    check("agent_profiles_disabled_message", sql`octet_length(${t.disabledMessage}) between 1 and 2000`),
    check("agent_profiles_slug", sql`${t.slug} ~ '^agt_[0-9a-hjkmnp-tv-z]{10}$'`),
    check("agent_profiles_display_name", sql`octet_length(${t.displayName}) between 1 and 256`),
    ...enumChecks(t.status),
  ],
)

/** How many origins a publishable key has. */
export const originsPerKey = 1

const endOf = ({ expiresAt }: { readonly expiresAt: SQLWrapper }) => sql`coalesce(${expiresAt}, 'infinity')`

/**
 * Only the hash of a key is stored, and what lists show. Revoked rows stay, so that no hash is used twice. A rotated
 * key names its successor, and a successor names what it replaces. Only the last successor is valid.
 */
export const apiKeys = pgTable(
  "api_keys",
  {
    id: id(),
    userId: refersTo("user_id", () => users.id),
    keyHash: bytea("key_hash").notNull().unique(),
    keyClass: text("key_class", { enum: ["secret", "publishable"] }).notNull(),
    prefix: text().notNull(),
    lastFour: text("last_four").notNull(),
    name: text().notNull(),
    originAllowlist: text("origin_allowlist").array(),
    createdAt: time("created_at").notNull(),
    expiresAt: time("expires_at"),
    disabledAt: time("disabled_at"),
    /** Who disabled it: only what the owner disabled may the owner enable. Null while it is enabled. */
    disabledBy: text("disabled_by", { enum: ["owner", "operator"] }),
    revokedAt: time("revoked_at"),
    lastUsedAt: time("last_used_at"),
    replacedBy: integer("replaced_by").unique(),
    replaces: integer(),
  },
  (t) => [
    foreignKey({ columns: [t.replacedBy], foreignColumns: [t.id] }),
    foreignKey({ columns: [t.replaces], foreignColumns: [t.id] }),
    index("api_keys_live")
      .on(t.userId, t.id)
      .where(sql`${t.revokedAt} is null`),
    index("api_keys_of_user").on(t.userId, t.revokedAt, endOf(t)),
    index("api_keys_replaces").on(t.replaces),
    check("api_keys_hash", sql`octet_length(${t.keyHash}) = 32`),
    check("api_keys_prefix", isOneOf(t.prefix, keyPrefixes)),
    check("api_keys_class", sql`${t.keyClass} = case ${t.prefix} when 'svc_pk_' then 'publishable' else 'secret' end`),
    check("api_keys_last_four", sql`${t.lastFour} ~ '^[0-9A-Za-z]{4}$'`),
    check("api_keys_name", sql`octet_length(${t.name}) between 1 and 256`),
    check(
      "api_keys_origins",
      sql`case ${t.keyClass} when 'publishable' then coalesce(cardinality(${t.originAllowlist}), 0) = ${sql.raw(`${originsPerKey}`)} else ${t.originAllowlist} is null end`,
    ),
    ...enumChecks(t.disabledBy),
    check(
      "api_keys_replaced",
      sql`${t.replacedBy} is null or (${t.replacedBy} > ${t.id} and ${t.expiresAt} is not null)`,
    ),
  ],
)

/** When a key expires, as the index of an account's keys has it: there can be endlessly many expired ones. */
export const keyEnd = endOf(apiKeys)

/** What keys did, by UTC day. Deleted after SVC_USAGE_DAYS, and with the key's account. */
export const keyUsage = pgTable(
  "key_usage",
  {
    keyId: integer("key_id")
      .notNull()
      .references(() => apiKeys.id, { onDelete: "cascade" }),
    day: date({ mode: "string" }).notNull(),
    requests: integer().notNull(),
    refused: integer().notNull(),
    sessions: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.keyId, t.day] }), index("key_usage_day").on(t.day)],
)

/** One row, inserted by the migration: the secret behind the tag of every key. */
export const keySecrets = pgTable("key_secrets", { id: integer().primaryKey(), secret: bytea().notNull() }, (t) => [
  check("key_secrets_one_row", sql`${t.id} = 1`),
])

/**
 * Sign-ups of the last hour by client address (IPv6 by /64), which the sign-up limit counts. Older rows are deleted.
 */
export const signups = pgTable(
  "signups",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    address: text().notNull(),
    at: time("at").notNull(),
  },
  (t) => [index("signups_address").on(t.address, t.at), index("signups_at").on(t.at)],
)

/**
 * Lower relay limits that the operator set for an account (`agent:<slug>`, `user:<id>`) or a stack (`stack:<name>`).
 * Session tokens carry each column under its name. Null means no lower limit.
 */
export const tokenLimits = pgTable("token_limits", {
  subject: text().primaryKey(),
  max_transaction_inspect_requests_per_minute: integer(),
  max_transaction_send_requests_per_minute: integer(),
  max_transaction_status_requests_per_minute: integer(),
  max_transaction_request_bytes: integer(),
  max_transaction_bytes: integer(),
  max_transaction_concurrency: integer(),
})

/**
 * Who changed what. Triggers reject everything but new rows. The owner of the tables could drop them
 * (docs/operations.md).
 */
export const auditLog = pgTable("audit_log", {
  id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
  at: time("at").notNull(),
  actor: text().notNull(),
  action: text().notNull(),
  target: text().notNull(),
  outcome: text().notNull(),
  addressPrefix: text("address_prefix"),
  requestId: text("request_id"),
})
