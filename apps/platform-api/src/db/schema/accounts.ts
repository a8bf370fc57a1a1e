import { pg } from "../drizzle.ts"
import { bytea, id, time } from "./columns.ts"

const { bigint, integer, pgTable, text } = pg

/** The owner of keys and records: an agent, which has a profile, or a person, who has an e-mail address. */
export const users = pgTable("users", {
  id: id(),
  kind: text({ enum: ["agent", "human"] }).notNull(),
  email: text(),
  name: text(),
  createdAt: time("created_at").notNull(),
})

/** What an agent's account can be. */
export const agentStatuses = ["active", "disabled"] as const

export const agentProfiles = pgTable("agent_profiles", {
  userId: integer("user_id").primaryKey(),
  slug: text().notNull(),
  displayName: text("display_name").notNull(),
  status: text({ enum: agentStatuses }).notNull().default("active"),
  createdAt: time("created_at").notNull(),
  lastSeenAt: time("last_seen_at").notNull(),
})

/** How many origins a publishable key has. */
export const originsPerKey = 1

/**
 * Only the hash of a key is stored, and what lists show. Revoked rows stay, so that no hash is used twice. A rotated
 * key names its successor, and a successor names what it replaces. Only the last successor is valid.
 */
export const apiKeys = pgTable("api_keys", {
  id: id(),
  userId: integer("user_id").notNull(),
  keyHash: bytea("key_hash").notNull(),
  keyClass: text("key_class", { enum: ["secret", "publishable"] }).notNull(),
  prefix: text().notNull(),
  lastFour: text("last_four").notNull(),
  name: text().notNull(),
  originAllowlist: text("origin_allowlist").array(),
  createdAt: time("created_at").notNull(),
  expiresAt: time("expires_at"),
  disabledAt: time("disabled_at"),
  /** Who disabled it: only what the owner disabled may the owner enable. Null: nobody, or the operator in earlier releases. */
  disabledBy: text("disabled_by", { enum: ["owner", "operator"] }),
  revokedAt: time("revoked_at"),
  lastUsedAt: time("last_used_at"),
  replacedBy: integer("replaced_by"),
  replaces: integer(),
})

/** One row, inserted by the migration: the secret behind the tag of every key. */
export const keySecrets = pgTable("key_secrets", { id: integer().primaryKey(), secret: bytea().notNull() })

/**
 * Sign-ups of the last hour by client address (IPv6 by /64), which the sign-up limit counts. Older rows are deleted.
 */
export const signups = pgTable("signups", {
  id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
  address: text().notNull(),
  at: time("at").notNull(),
})

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
