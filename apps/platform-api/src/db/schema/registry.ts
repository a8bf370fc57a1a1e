// Published stacks, their versions and what changed.
import { pg, sql } from "../drizzle.ts"
import { users } from "./accounts.ts"
import { bumps, bytea, id, time, verdicts, visibilities } from "./columns.ts"

const { bigint, boolean, check, index, integer, pgTable, primaryKey, text, uniqueIndex } = pg

/** Published stacks. `revision` is the registry's at the row's last change, by which replicas find what is new. */
export const stacks = pgTable(
  "stacks",
  {
    id: id(),
    name: text().notNull().unique(),
    description: text(),
    websocketUrl: text("websocket_url").notNull().unique(),
    visibility: text({ enum: visibilities }).notNull(),
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
    verdict: text({ enum: verdicts }),
    bump: text({ enum: bumps }),
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
    verdict: text({ enum: verdicts }),
    bump: text({ enum: bumps }),
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

export const changeKinds = ["published", "rolled-back", "deprecated", "undeprecated", "withdrawn", "restored"] as const

/**
 * One row per change that a reader of a stack notices, added by a trigger on `stacks`. An id is the registry's revision,
 * raised under a lock that is held until the commit: ids become visible in their order.
 */
export const registryChanges = pgTable(
  "registry_changes",
  {
    id: bigint({ mode: "number" }).primaryKey(),
    at: time("at").notNull(),
    stack: text().notNull(),
    line: text().notNull(),
    kind: text({ enum: changeKinds }).notNull(),
    version: integer().notNull(),
    previousVersion: integer("previous_version"),
    verdict: text({ enum: verdicts }).notNull(),
    bump: text({ enum: bumps }).notNull(),
    message: text(),
    successor: text(),
    /** Who sees the stack today; for `withdrawn`, who saw it until then. Kept up to date by the trigger. */
    visibility: text({ enum: visibilities }).notNull(),
    viewers: integer().array().notNull(),
    /** Whose view did not change, where only who sees the stack did: those who saw it before, or still see it. */
    exceptVisibility: text("except_visibility", { enum: visibilities }),
    exceptViewers: integer("except_viewers").array().notNull(),
  },
  (t) => [
    index("registry_changes_of_line").on(t.line, t.id),
    index("registry_changes_of_stack").on(t.stack, t.id),
    index("registry_changes_at").on(t.at),
    check(
      "registry_changes_kind",
      sql`${t.kind} in ('published', 'rolled-back', 'deprecated', 'undeprecated', 'withdrawn', 'restored')`,
    ),
  ],
)
