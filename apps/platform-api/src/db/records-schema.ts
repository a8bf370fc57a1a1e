import { orm, pg } from "./drizzle.ts"
import { bytea, time, users } from "./schema.ts"

const { sql } = orm
const { bigint, boolean, check, foreignKey, index, integer, pgTable, primaryKey, text, unique, uniqueIndex } = pg

// Status columns have no default and no free hand: triggers set them from the events, see migrations/*_records_guards.sql.

const id = () => integer().primaryKey().generatedAlwaysAsIdentity()
const owner = () =>
  integer("owner_id")
    .notNull()
    .references(() => users.id)

/** The index of (owner, id) serves lists, and lets other records refer to a record of the same owner alone. */
export const specs = pgTable(
  "specs",
  {
    id: id(),
    ownerId: owner(),
    name: text().notNull(),
    /** Null until there is a version. */
    entityName: text("entity_name"),
    description: text(),
    urlSlug: text("url_slug").notNull(),
    websocketUrl: text("websocket_url"),
    latestVersion: integer("latest_version").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    visibility: text({ enum: ["public", "global", "private"] })
      .notNull()
      .default("private"),
    /** JSON of `{message, since, successor?}`. */
    deprecated: text(),
    /** A deleted spec is seen by nobody; its builds and runs stay. */
    deletedAt: time("deleted_at"),
  },
  (t) => [
    unique("specs_of_owner").on(t.ownerId, t.id),
    check("specs_visibility", sql`${t.visibility} in ('public', 'global', 'private')`),
    check("specs_url_slug", sql`${t.urlSlug} ~ '^[a-z0-9][a-z0-9-]{0,62}$'`),
    check("specs_latest_version", sql`${t.latestVersion} >= 0`),
  ],
)

/** Rows are only ever added, their numbers without a gap. */
export const specVersions = pgTable(
  "spec_versions",
  {
    id: id(),
    specId: integer("spec_id")
      .notNull()
      .references(() => specs.id),
    versionNumber: integer("version_number").notNull(),
    contentHash: text("content_hash").notNull(),
    stateName: text("state_name").notNull(),
    programId: text("program_id"),
    handlerCount: integer("handler_count").notNull(),
    sectionCount: integer("section_count").notNull(),
    createdAt: time("created_at").notNull(),
    message: text(),
    /** The JSON of the schema derived from the AST, and the AST itself. */
    schema: text().notNull(),
    astGzip: bytea("ast_gzip").notNull(),
  },
  (t) => [
    unique("spec_versions_of_spec").on(t.specId, t.id),
    unique("spec_versions_number").on(t.specId, t.versionNumber),
    check("spec_versions_content_hash", sql`${t.contentHash} ~ '^[0-9a-f]{64}$'`),
    check("spec_versions_counts", sql`${t.handlerCount} >= 0 and ${t.sectionCount} >= 0`),
  ],
)

export const builds = pgTable(
  "builds",
  {
    id: id(),
    ownerId: integer("owner_id").notNull(),
    specId: integer("spec_id").notNull(),
    specVersionId: integer("spec_version_id"),
    branch: text(),
    status: text().notNull(),
    phase: text(),
    progress: integer(),
    statusMessage: text("status_message"),
    websocketUrl: text("websocket_url"),
    createdAt: time("created_at").notNull(),
    startedAt: time("started_at"),
    completedAt: time("completed_at"),
    allowBreaking: boolean("allow_breaking").notNull().default(false),
    /** The run that asked for it. */
    runId: integer("run_id"),
  },
  (t) => [
    unique("builds_of_owner").on(t.ownerId, t.id),
    index("builds_of_spec").on(t.specId),
    foreignKey({ name: "builds_spec", columns: [t.ownerId, t.specId], foreignColumns: [specs.ownerId, specs.id] }),
    foreignKey({
      name: "builds_version",
      columns: [t.specId, t.specVersionId],
      foreignColumns: [specVersions.specId, specVersions.id],
    }),
    check(
      "builds_status",
      sql`${t.status} in ('pending', 'uploading', 'queued', 'building', 'pushing', 'deploying', 'completed', 'failed', 'cancelled')
        and (${t.status} = 'pending') = (${t.startedAt} is null)
        and (${t.status} in ('completed', 'failed', 'cancelled')) = (${t.completedAt} is not null)`,
    ),
    check("builds_progress", sql`${t.progress} between 0 and 100`),
    check("builds_times", sql`${t.createdAt} <= ${t.startedAt} and ${t.startedAt} <= ${t.completedAt}`),
  ],
)

export const buildEvents = pgTable(
  "build_events",
  {
    id: id(),
    buildId: integer("build_id")
      .notNull()
      .references(() => builds.id),
    eventType: text("event_type").notNull(),
    phase: text(),
    previousStatus: text("previous_status"),
    newStatus: text("new_status"),
    createdAt: time("created_at").notNull(),
  },
  (t) => [index("build_events_of_build").on(t.buildId, t.id)],
)

/** Without a status only inside the transaction that makes it: its first event brings one. */
export const deployments = pgTable(
  "deployments",
  {
    id: id(),
    ownerId: integer("owner_id").notNull(),
    specId: integer("spec_id").notNull(),
    branch: text(),
    status: text(),
    statusMessage: text("status_message"),
    websocketUrl: text("websocket_url").notNull(),
    currentBuildId: integer("current_build_id"),
    firstDeployedAt: time("first_deployed_at"),
    lastDeployedAt: time("last_deployed_at"),
    /** The stack's name in the registry: kept while stopped. Null for what was only imported. */
    stackName: text("stack_name"),
    /** What an updating deployment is on its way to, the event that began it, and where it goes back to if it fails. */
    operation: text({ enum: ["deploy", "stop", "restart"] }),
    operationId: integer("operation_id"),
    settledStatus: text("settled_status", { enum: ["active", "stopped", "failed"] }),
    deletedAt: time("deleted_at"),
  },
  (t) => [
    unique("deployments_of_owner").on(t.ownerId, t.id),
    index("deployments_of_spec").on(t.specId),
    uniqueIndex("deployments_of_branch")
      .on(t.specId, sql`coalesce(${t.branch}, '')`)
      .where(sql`${t.stackName} is not null and ${t.deletedAt} is null`),
    foreignKey({ name: "deployments_spec", columns: [t.ownerId, t.specId], foreignColumns: [specs.ownerId, specs.id] }),
    foreignKey({
      name: "deployments_build",
      columns: [t.ownerId, t.currentBuildId],
      foreignColumns: [builds.ownerId, builds.id],
    }),
    check("deployments_status", sql`${t.status} in ('active', 'updating', 'stopped', 'failed')`),
    check("deployments_times", sql`${t.firstDeployedAt} <= ${t.lastDeployedAt}`),
  ],
)

export const deploymentEvents = pgTable(
  "deployment_events",
  {
    id: id(),
    deploymentId: integer("deployment_id")
      .notNull()
      .references(() => deployments.id),
    eventType: text("event_type").notNull(),
    previousStatus: text("previous_status"),
    newStatus: text("new_status"),
    buildId: integer("build_id").references(() => builds.id),
    message: text(),
    actor: text().notNull(),
    createdAt: time("created_at").notNull(),
  },
  (t) => [
    index("deployment_events_of_deployment").on(t.deploymentId, t.id),
    check("deployment_events_actor", sql`${t.actor} in ('user', 'system')`),
  ],
)

export const runs = pgTable(
  "runs",
  {
    id: id(),
    ownerId: owner(),
    workflow: text().notNull(),
    status: text().notNull(),
    trigger: text().notNull(),
    specId: integer("spec_id"),
    deploymentId: integer("deployment_id"),
    attempt: integer().notNull(),
    retryOfId: integer("retry_of_id"),
    errorCode: text("error_code"),
    errorMessage: text("error_message"),
    createdAt: time("created_at").notNull(),
    startedAt: time("started_at"),
    completedAt: time("completed_at"),
    specVersionId: integer("spec_version_id"),
    branch: text(),
    allowBreaking: boolean("allow_breaking").notNull().default(false),
    /** Whether it waits for a word even where nothing breaks, and when that word came. */
    approval: boolean().notNull().default(false),
    approvedAt: time("approved_at"),
    buildId: integer("build_id"),
  },
  (t) => [
    unique("runs_of_owner").on(t.ownerId, t.id),
    index("runs_of_spec").on(t.specId),
    index("runs_retries").on(t.retryOfId),
    foreignKey({ name: "runs_spec", columns: [t.ownerId, t.specId], foreignColumns: [specs.ownerId, specs.id] }),
    foreignKey({
      name: "runs_deployment",
      columns: [t.ownerId, t.deploymentId],
      foreignColumns: [deployments.ownerId, deployments.id],
    }),
    foreignKey({ name: "runs_retry_of", columns: [t.ownerId, t.retryOfId], foreignColumns: [t.ownerId, t.id] }),
    check(
      "runs_status",
      sql`${t.status} in ('queued', 'running', 'waiting', 'cancelling', 'succeeded', 'failed', 'cancelled')
        and (${t.status} = 'queued') = (${t.startedAt} is null)
        and (${t.status} in ('succeeded', 'failed', 'cancelled')) = (${t.completedAt} is not null)`,
    ),
    check("runs_trigger", sql`${t.trigger} in ('manual', 'schedule', 'event')`),
    check("runs_attempt", sql`${t.attempt} >= case when ${t.retryOfId} is null then 1 else 2 end`),
    // A retry is younger than what it retries, so no chain of retries can close into a ring.
    check("runs_retry_of_older", sql`${t.retryOfId} < ${t.id}`),
    check("runs_times", sql`${t.createdAt} <= ${t.startedAt} and ${t.startedAt} <= ${t.completedAt}`),
  ],
)

export const runEvents = pgTable(
  "run_events",
  {
    id: id(),
    runId: integer("run_id")
      .notNull()
      .references(() => runs.id),
    previousStatus: text("previous_status"),
    newStatus: text("new_status").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (t) => [index("run_events_of_run").on(t.runId, t.id)],
)

export const runSteps = pgTable(
  "run_steps",
  {
    runId: integer("run_id")
      .notNull()
      .references(() => runs.id),
    position: integer().notNull(),
    name: text().notNull(),
    status: text().notNull(),
    startedAt: time("started_at"),
    completedAt: time("completed_at"),
    errorMessage: text("error_message"),
  },
  (t) => [
    primaryKey({ columns: [t.runId, t.position] }),
    check("run_steps_status", sql`${t.status} in ('queued', 'running', 'succeeded', 'failed', 'skipped')`),
    check("run_steps_times", sql`${t.startedAt} <= ${t.completedAt}`),
  ],
)

/** What happened to a run and its steps, in order: what its event stream tells. Added by triggers. */
export const runChanges = pgTable(
  "run_changes",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    runId: integer("run_id").notNull(),
    /** Null for the run itself. */
    step: text(),
    status: text().notNull(),
  },
  (t) => [index("run_changes_of_run").on(t.runId, t.id)],
)

/** Records that a worker has to look at. What is to be done stands in the records themselves. */
export const jobs = pgTable(
  "jobs",
  {
    kind: text({ enum: ["build", "run", "deployment", "notice"] }).notNull(),
    recordId: integer("record_id").notNull(),
    ownerId: integer("owner_id").notNull(),
    specId: integer("spec_id").notNull(),
    /** When to look next; null while something else has to happen first. */
    nextAt: time("next_at"),
    /** Who has it in hand, and until when: then it is anybody's. */
    leaseBy: text("lease_by"),
    leaseUntil: time("lease_until"),
    /** Calls of the deploy hook so far, and when the first one was made. */
    attempts: integer().notNull().default(0),
    firstAttemptAt: time("first_attempt_at"),
  },
  (t) => [
    primaryKey({ columns: [t.kind, t.recordId] }),
    index("jobs_next").on(t.nextAt),
    index("jobs_of_owner").on(t.ownerId, t.kind, t.recordId),
  ],
)

/** Answers to requests that carried an Idempotency-Key, for a day. */
export const idempotencyKeys = pgTable(
  "idempotency_keys",
  {
    userId: integer("user_id")
      .notNull()
      .references(() => users.id),
    method: text().notNull(),
    path: text().notNull(),
    key: text().notNull(),
    bodyHash: text("body_hash").notNull(),
    status: integer().notNull(),
    location: text(),
    body: text().notNull(),
    createdAt: time("created_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.method, t.path, t.key] }), index("idempotency_keys_at").on(t.createdAt)],
)

/** Who sees a record besides its owner; never the owner again (a trigger), or lists would show it twice. */
const shares = (
  name: string,
  recordId: () => typeof specs.id | typeof builds.id | typeof deployments.id | typeof runs.id,
) =>
  pgTable(
    name,
    {
      userId: integer("user_id")
        .notNull()
        .references(() => users.id),
      recordId: integer("record_id").notNull().references(recordId),
    },
    (t) => [
      primaryKey({ columns: [t.userId, t.recordId] }),
      // By record too: who else sees a record is told to its owner.
      index(`${name}_of_record`).on(t.recordId, t.userId),
    ],
  )

export const specShares = shares("spec_shares", () => specs.id)
export const buildShares = shares("build_shares", () => builds.id)
export const deploymentShares = shares("deployment_shares", () => deployments.id)
export const runShares = shares("run_shares", () => runs.id)

/**
 * How many records of a kind an account sees (its own and shared ones) among each 1024 ids: pages far down a list are
 * found by these. Kept by triggers.
 */
export const recordBlocks = pgTable(
  "record_blocks",
  {
    kind: text().notNull(),
    userId: integer("user_id").notNull(),
    block: integer().notNull(),
    records: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.userId, t.block] })],
)
