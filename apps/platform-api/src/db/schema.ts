import type { AnyPgColumn } from "drizzle-orm/pg-core"
import { orm, pg } from "./drizzle.ts"

const { sql } = orm
const { bigint, boolean, check, index, integer, pgTable, primaryKey, text, timestamp, uniqueIndex } = pg

export const bytea = pg.customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" })

// Answers show milliseconds, so nothing finer is stored: what was answered once compares equal for ever.
export const time = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" })

/** Whoever keys and records belong to: an agent (it has a profile) or a person (with an e-mail address). */
export const users = pgTable(
  "users",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    kind: text({ enum: ["agent", "human"] }).notNull(),
    email: text(),
    name: text(),
    createdAt: time("created_at").notNull(),
  },
  (t) => [
    check("users_kind", sql`${t.kind} in ('agent', 'human')`),
    check("users_email", sql`(${t.kind} = 'human') = (${t.email} is not null)`),
    uniqueIndex("users_email_unique").on(sql`lower(${t.email})`),
  ],
)

export const agentProfiles = pgTable(
  "agent_profiles",
  {
    userId: integer("user_id")
      .primaryKey()
      .references(() => users.id),
    slug: text().notNull().unique(),
    displayName: text("display_name").notNull(),
    status: text({ enum: ["active", "disabled"] })
      .notNull()
      .default("active"),
    createdAt: time("created_at").notNull(),
    lastSeenAt: time("last_seen_at").notNull(),
  },
  (t) => [
    check("agent_profiles_slug", sql`${t.slug} ~ '^agt_[0-9a-hjkmnp-tv-z]{10}$'`),
    check("agent_profiles_display_name", sql`char_length(${t.displayName}) between 1 and 64`),
    check("agent_profiles_status", sql`${t.status} in ('active', 'disabled')`),
  ],
)

/**
 * A key is never stored: only its hash, and what a list shows of it. Revoked rows stay, so that no hash comes twice. A key
 * that was rotated names its successor, and a successor what it replaces; the last successor counts, others are revoked.
 */
export const apiKeys = pgTable(
  "api_keys",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    userId: integer("user_id")
      .notNull()
      .references(() => users.id),
    keyHash: bytea("key_hash").notNull().unique(),
    keyClass: text("key_class", { enum: ["secret", "publishable"] }).notNull(),
    prefix: text().notNull(),
    lastFour: text("last_four").notNull(),
    name: text().notNull(),
    originAllowlist: text("origin_allowlist").array(),
    createdAt: time("created_at").notNull(),
    expiresAt: time("expires_at"),
    disabledAt: time("disabled_at"),
    revokedAt: time("revoked_at"),
    lastUsedAt: time("last_used_at"),
    replacedBy: integer("replaced_by")
      .unique()
      .references((): AnyPgColumn => apiKeys.id),
    replaces: integer().references((): AnyPgColumn => apiKeys.id),
  },
  (t) => [
    index("api_keys_live")
      .on(t.userId, t.id)
      .where(sql`${t.revokedAt} is null`),
    // What deleting accounts looks for: all keys of an account, and a key's successor.
    index("api_keys_of_user").on(t.userId),
    index("api_keys_replaces").on(t.replaces),
    check("api_keys_hash", sql`octet_length(${t.keyHash}) = 32`),
    check("api_keys_prefix", sql`${t.prefix} in ('svc_ak_', 'svc_pk_', 'svc_sk_')`),
    check("api_keys_class", sql`${t.keyClass} = case ${t.prefix} when 'svc_pk_' then 'publishable' else 'secret' end`),
    check("api_keys_last_four", sql`${t.lastFour} ~ '^[0-9A-Za-z]{4}$'`),
    check(
      "api_keys_replaced",
      sql`${t.replacedBy} is null or (${t.replacedBy} > ${t.id} and ${t.expiresAt} is not null)`,
    ),
    check("api_keys_name", sql`char_length(${t.name}) between 1 and 64`),
    check(
      "api_keys_origins",
      sql`case ${t.keyClass} when 'publishable' then coalesce(cardinality(${t.originAllowlist}), 0) = 1 else ${t.originAllowlist} is null end`,
    ),
  ],
)

/** Sign-ups of the last hour by client address (IPv6 by /64): what the sign-up limit counts. Older rows are deleted. */
export const signups = pgTable(
  "signups",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    address: text().notNull(),
    at: time("at").notNull(),
  },
  (t) => [index("signups_address").on(t.address, t.at), index("signups_at").on(t.at)],
)

/** Published stacks. `revision` is the registry's at the row's last change, by which replicas find what is new. */
export const stacks = pgTable(
  "stacks",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    name: text().notNull().unique(),
    description: text(),
    websocketUrl: text("websocket_url").notNull().unique(),
    visibility: text({ enum: ["public", "global", "private"] }).notNull(),
    relay: boolean().notNull(),
    browserSend: boolean("browser_send").notNull(),
    version: integer().notNull(),
    contentHash: text("content_hash").notNull(),
    revision: bigint({ mode: "number" }).notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    /** The JSON object that stands in lists, and the derived schema's: texts, put together into the answers. */
    detail: text().notNull(),
    schema: text().notNull(),
    // Whole answers, compressed: a replica starts without compressing anything.
    schemaGzip: bytea("schema_gzip").notNull(),
    astGzip: bytea("ast_gzip").notNull(),
    /** A person's stack: whose, of which spec and branch. The operator's own have none of the three. */
    ownerId: integer("owner_id").references(() => users.id),
    specId: integer("spec_id"),
    branch: text(),
    /** The accounts that see it while it is private: its owner's and those that the spec is shared with. A trigger sets it. */
    viewers: integer().array().notNull().default([]),
    /** Whose versions these are: they belong to the spec's branch, or to the operator's name, and never pass on. */
    line: text()
      .notNull()
      .generatedAlwaysAs(
        sql`case when spec_id is null then 'name:' || name else 'spec:' || spec_id || coalesce(':' || branch, '') end`,
      ),
    /** JSON of `{message, since, successor?}`. */
    deprecated: text(),
    /** How this version differs from the one before it in its line. */
    verdict: text({ enum: ["none", "compatible", "breaking"] }),
    bump: text({ enum: ["none", "patch", "minor", "major"] }),
    changes: integer(),
    message: text(),
  },
  (t) => [
    uniqueIndex("stacks_revision").on(t.revision),
    uniqueIndex("stacks_line").on(t.line),
    index("stacks_owner").on(t.ownerId),
    check("stacks_name", sql`${t.name} ~ '^[a-z0-9][a-z0-9-]{0,62}$'`),
    check("stacks_visibility", sql`${t.visibility} in ('public', 'global', 'private')`),
    check("stacks_version", sql`${t.version} >= 1`),
    check("stacks_content_hash", sql`${t.contentHash} ~ '^[0-9a-f]{64}$'`),
  ],
)

/**
 * What the operator takes off the relay's limits for an account (`agent:<slug>`, `user:<id>`) or a stack (`stack:<name>`):
 * each column stands in session tokens under its own name. Null lowers nothing.
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

/** Every version ever served, with the answers it was served as: a trigger on `stacks` adds them, and nothing is ever changed. */
export const stackVersions = pgTable(
  "stack_versions",
  {
    line: text().notNull(),
    number: integer().notNull(),
    contentHash: text("content_hash").notNull(),
    publishedAt: time("published_at").notNull(),
    schemaGzip: bytea("schema_gzip").notNull(),
    astGzip: bytea("ast_gzip").notNull(),
    verdict: text({ enum: ["none", "compatible", "breaking"] }),
    bump: text({ enum: ["none", "patch", "minor", "major"] }),
    changes: integer(),
    message: text(),
  },
  (t) => [primaryKey({ columns: [t.line, t.number] })],
)

/** Modules of types of versions, each made when it is first asked for, under the name that the stack then has. */
export const stackModules = pgTable(
  "stack_modules",
  {
    line: text().notNull(),
    number: integer().notNull(),
    language: text().notNull(),
    name: text().notNull(),
    gzip: bytea().notNull(),
  },
  (t) => [primaryKey({ columns: [t.line, t.number, t.language] })],
)

/** Who holds a stack's name, or held it until `freed_at`: it then rests before anybody else may take it. */
export const stackNames = pgTable(
  "stack_names",
  {
    name: text().primaryKey(),
    /** Null for the operator. */
    ownerId: integer("owner_id").references(() => users.id),
    line: text().notNull(),
    freedAt: time("freed_at"),
    /** Whether the operator let the stack be public, where that is asked of people. */
    approved: boolean().notNull().default(false),
  },
  (t) => [index("stack_names_owner").on(t.ownerId)],
)

/** One row: publishing raises the revision under its lock, so that revisions become visible in their order. */
export const registryState = pgTable(
  "registry_state",
  {
    id: integer().primaryKey(),
    revision: bigint({ mode: "number" }).notNull(),
  },
  (t) => [check("registry_state_one_row", sql`${t.id} = 1`)],
)

/** Who changed what. Triggers refuse anything but new rows; the tables' owner could drop them (docs/operations.md). */
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
