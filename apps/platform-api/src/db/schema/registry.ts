// Published stacks, their versions and what changed.
import { pg, sql } from "../database.ts"
import { users } from "./accounts.ts"
import { bumps, bytea, enumChecks, id, time, verdicts, visibilities } from "./columns.ts"

const { bigint, boolean, check, index, integer, pgTable, primaryKey, text, uniqueIndex } = pg

/**
 * Published stacks. `revision` is the registry's revision at the last change of the row. Replicas use it to find
 * changes.
 */
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
    /** JSON texts that responses are assembled from: the object in lists, and the derived schema. */
    detail: text().notNull(),
    schema: text().notNull(),
    // Complete compressed responses, so that a replica compresses nothing when it starts.
    schemaGzip: bytea("schema_gzip").notNull(),
    astGzip: bytea("ast_gzip").notNull(),
    /** The person and spec of a person's stack. Null for the operator's stacks. */
    ownerId: integer("owner_id").references(() => users.id),
    specId: integer("spec_id"),
    /**
     * The accounts that can read it while it is private: its owner and those the spec is shared with.
     */
    viewers: integer().array().notNull().default([]),
    /** Identifies a series of versions: the spec's, or the operator's name's. It never passes to another stack. */
    line: text()
      .notNull()
      .generatedAlwaysAs(sql`case when spec_id is null then 'name:' || name else 'spec:' || spec_id end`),
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
    ...enumChecks(t.visibility, t.verdict, t.bump),
    check("stacks_version", sql`${t.version} >= 1`),
    check("stacks_content_hash", sql`${t.contentHash} ~ '^[0-9a-f]{64}$'`),
  ],
)

/** Every version ever served, with its responses. A trigger on `stacks` adds the rows. They never change. */
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
  (t) => [primaryKey({ columns: [t.line, t.number] }), ...enumChecks(t.verdict, t.bump)],
)

/** Modules of types, generated on the first request, for the name that the stack has then. */
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

/** Who holds a stack's name, or held it until `freed_at`. A freed name stays reserved for a while. */
export const stackNames = pgTable(
  "stack_names",
  {
    name: text().primaryKey(),
    /** Null for the operator. */
    ownerId: integer("owner_id").references(() => users.id),
    line: text().notNull(),
    freedAt: time("freed_at"),
    /** Whether the operator approved the stack to be public, where approval is required. */
    approved: boolean().notNull().default(false),
  },
  (t) => [index("stack_names_owner").on(t.ownerId), index("stack_names_line").on(t.line)],
)

/** One row. Each publication raises the revision under its lock, so revisions become visible in order. */
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
 * One row per change that readers can see (`registry/stack-changes.ts`). The id is the registry's revision, raised under
 * a lock until the commit, so ids become visible in order.
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
    /** For `withdrawn`: who could read the stack until then. For all others `line_readers` says it. */
    visibility: text({ enum: visibilities }),
    viewers: integer().array(),
    /** Readers for whom nothing changed, if only the visibility did: those who could read it before, or still can. */
    exceptVisibility: text("except_visibility", { enum: visibilities }),
    exceptViewers: integer("except_viewers").array().notNull(),
  },
  (t) => [
    index("registry_changes_of_line").on(t.line, t.id),
    index("registry_changes_of_stack").on(t.stack, t.id),
    index("registry_changes_at").on(t.at),
    check("registry_changes_version", sql`${t.version} >= 1`),
    check("registry_changes_previous_version", sql`${t.previousVersion} >= 1`),
    check(
      "registry_changes_readers",
      sql`num_nonnulls(${t.visibility}, ${t.viewers}) = case ${t.kind} when 'withdrawn' then 2 else 0 end`,
    ),
    ...enumChecks(t.kind, t.verdict, t.bump, t.visibility, t.exceptVisibility),
  ],
)

/** Who can read a line's changes: who can read the stack, or could before it was withdrawn. One row, however many changes. */
export const lineReaders = pgTable(
  "line_readers",
  {
    line: text().primaryKey(),
    visibility: text({ enum: visibilities }).notNull(),
    viewers: integer().array().notNull(),
  },
  (t) => enumChecks(t.visibility),
)
