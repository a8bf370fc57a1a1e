// Specs, their builds, deployments and runs, and who can read them.
import type { AnyPgColumn } from "drizzle-orm/pg-core"
import { buildStatuses, deploymentStatuses, lifeCycles, runStatuses } from "../../records/transitions.ts"
import { pg, sql } from "../database.ts"
import { users } from "./accounts.ts"
import { bytea, enumChecks, id, isOneOf, refersTo, time, visibilities } from "./columns.ts"

const { bigint, boolean, check, foreignKey, index, integer, pgTable, primaryKey, text, unique, uniqueIndex } = pg

/**
 * The index of (owner, id) serves lists, and ensures that records refer only to records of the same owner. Where records can be deleted,
 * without end, another one serves lists.
 */
export const specs = pgTable(
  "specs",
  {
    id: id(),
    ownerId: refersTo("owner_id", () => users.id),
    name: text().notNull(),
    /** Null until there is a version. */
    entityName: text("entity_name"),
    description: text(),
    urlSlug: text("url_slug").notNull(),
    websocketUrl: text("websocket_url"),
    latestVersion: integer("latest_version").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    visibility: text({ enum: visibilities }).notNull().default("private"),
    /** JSON of `{message, since, successor?}`. */
    deprecated: text(),
    /** Nobody can read a deleted spec. Its builds and runs stay. */
    deletedAt: time("deleted_at"),
  },
  (t) => [
    unique("specs_of_owner").on(t.ownerId, t.id),
    index("specs_live")
      .on(t.ownerId, t.id)
      .where(sql`${t.deletedAt} is null`),
    check("specs_url_slug", sql`${t.urlSlug} ~ '^[a-z0-9][a-z0-9-]{0,62}$'`),
    check("specs_latest_version", sql`${t.latestVersion} >= 0`),
    ...enumChecks(t.visibility),
  ],
)

/** Rows are only added. Numbers have no gaps. */
export const specVersions = pgTable(
  "spec_versions",
  {
    id: id(),
    specId: refersTo("spec_id", () => specs.id),
    versionNumber: integer("version_number").notNull(),
    contentHash: text("content_hash").notNull(),
    stateName: text("state_name").notNull(),
    programId: text("program_id"),
    handlerCount: integer("handler_count").notNull(),
    sectionCount: integer("section_count").notNull(),
    createdAt: time("created_at").notNull(),
    message: text(),
    /** The schema derived from the AST, as JSON, and the AST itself. */
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

// Status columns have no default. Triggers set them from the events: see migrations/0001_guards.sql.

/** A record's status is one of its life cycle's, and agrees with when it started and ended. */
const statusAgrees = (
  { start, statuses, ended }: (typeof lifeCycles)["build" | "run"],
  t: { readonly status: AnyPgColumn; readonly startedAt: AnyPgColumn; readonly completedAt: AnyPgColumn },
) =>
  sql`${isOneOf(t.status, statuses)} and (${isOneOf(t.status, start === undefined ? [] : [start])}) = (${t.startedAt} is null) and (${isOneOf(t.status, ended)}) = (${t.completedAt} is not null)`

/** An event's transition is one of its life cycle's. An event without a new status passes, and a deployment's first one. */
const transitionIsAllowed = (
  { next }: { readonly next: Readonly<Record<string, readonly string[]>> },
  t: { readonly previousStatus: AnyPgColumn; readonly newStatus: AnyPgColumn },
) => {
  const pairs = Object.entries(next).flatMap(([from, to]) => to.map((status) => `('${from}', '${status}')`))
  return sql`(${t.previousStatus}, ${t.newStatus}) in (${sql.raw(pairs.join(", "))})`
}

const timesAscend = (...times: readonly AnyPgColumn[]) =>
  sql.join(
    times.slice(1).map((later, n) => sql`${times[n]} <= ${later}`),
    sql` and `,
  )

export const builds = pgTable(
  "builds",
  {
    id: id(),
    ownerId: integer("owner_id").notNull(),
    specId: integer("spec_id").notNull(),
    specVersionId: integer("spec_version_id").notNull(),
    status: text({ enum: buildStatuses }).notNull(),
    phase: text(),
    progress: integer(),
    statusMessage: text("status_message"),
    websocketUrl: text("websocket_url"),
    createdAt: time("created_at").notNull(),
    startedAt: time("started_at"),
    completedAt: time("completed_at"),
    allowBreaking: boolean("allow_breaking").notNull().default(false),
    runId: integer("run_id"),
  },
  (t) => [
    unique("builds_of_owner").on(t.ownerId, t.id),
    foreignKey({ name: "builds_spec", columns: [t.ownerId, t.specId], foreignColumns: [specs.ownerId, specs.id] }),
    foreignKey({
      name: "builds_version",
      columns: [t.specId, t.specVersionId],
      foreignColumns: [specVersions.specId, specVersions.id],
    }),
    index("builds_of_spec").on(t.specId, t.completedAt),
    check("builds_status", statusAgrees(lifeCycles.build, t)),
    check("builds_progress", sql`${t.progress} between 0 and 100`),
    check("builds_times", timesAscend(t.createdAt, t.startedAt, t.completedAt)),
  ],
)

export const buildEvents = pgTable(
  "build_events",
  {
    id: id(),
    buildId: refersTo("build_id", () => builds.id),
    eventType: text("event_type").notNull(),
    phase: text(),
    previousStatus: text("previous_status", { enum: buildStatuses }),
    newStatus: text("new_status", { enum: buildStatuses }),
    createdAt: time("created_at").notNull(),
  },
  (t) => [
    index("build_events_of_build").on(t.buildId, t.id),
    check("build_events_transition", transitionIsAllowed(lifeCycles.build, t)),
  ],
)

/** The status is null only inside the transaction that creates the deployment. The first event sets it. */
export const deployments = pgTable(
  "deployments",
  {
    id: id(),
    ownerId: integer("owner_id").notNull(),
    specId: integer("spec_id").notNull(),
    status: text({ enum: deploymentStatuses }),
    statusMessage: text("status_message"),
    websocketUrl: text("websocket_url").notNull(),
    currentBuildId: integer("current_build_id"),
    firstDeployedAt: time("first_deployed_at"),
    lastDeployedAt: time("last_deployed_at"),
    /** The stack's name in the registry, kept while stopped. */
    stackName: text("stack_name").notNull(),
    /** What an updating deployment is doing, the event that started it, and the status to return to if it fails. */
    operation: text({ enum: ["deploy", "stop", "restart"] }),
    operationId: integer("operation_id"),
    settledStatus: text("settled_status", { enum: ["active", "stopped", "failed"] }),
    deletedAt: time("deleted_at"),
  },
  (t) => [
    unique("deployments_of_owner").on(t.ownerId, t.id),
    foreignKey({ name: "deployments_spec", columns: [t.ownerId, t.specId], foreignColumns: [specs.ownerId, specs.id] }),
    foreignKey({
      name: "deployments_build",
      columns: [t.ownerId, t.currentBuildId],
      foreignColumns: [builds.ownerId, builds.id],
    }),
    index("deployments_live")
      .on(t.ownerId, t.id)
      .where(sql`${t.deletedAt} is null`),
    uniqueIndex("deployments_one_per_spec")
      .on(t.specId)
      .where(sql`${t.deletedAt} is null`),
    ...enumChecks(t.status),
    check("deployments_times", timesAscend(t.firstDeployedAt, t.lastDeployedAt)),
  ],
)

export const deploymentEvents = pgTable(
  "deployment_events",
  {
    id: id(),
    deploymentId: refersTo("deployment_id", () => deployments.id),
    eventType: text("event_type").notNull(),
    previousStatus: text("previous_status", { enum: deploymentStatuses }),
    newStatus: text("new_status", { enum: deploymentStatuses }),
    buildId: integer("build_id").references(() => builds.id),
    message: text(),
    actor: text({ enum: ["user", "system"] }).notNull(),
    createdAt: time("created_at").notNull(),
  },
  (t) => [
    index("deployment_events_of_deployment").on(t.deploymentId, t.id),
    check("deployment_events_transition", transitionIsAllowed(lifeCycles.deployment, t)),
    ...enumChecks(t.actor),
  ],
)

export const runTriggers = ["manual", "schedule", "event"] as const

/** A retry has a higher id than the run that it retries, so retries can't form a cycle. */
export const runs = pgTable(
  "runs",
  {
    id: id(),
    ownerId: refersTo("owner_id", () => users.id),
    workflow: text().notNull(),
    status: text({ enum: runStatuses }).notNull(),
    trigger: text({ enum: runTriggers }).notNull(),
    specId: integer("spec_id").notNull(),
    deploymentId: integer("deployment_id"),
    attempt: integer().notNull(),
    retryOfId: integer("retry_of_id"),
    errorCode: text("error_code"),
    errorMessage: text("error_message"),
    createdAt: time("created_at").notNull(),
    startedAt: time("started_at"),
    completedAt: time("completed_at"),
    specVersionId: integer("spec_version_id").notNull(),
    allowBreaking: boolean("allow_breaking").notNull().default(false),
    /** Whether it waits for approval even if nothing breaks, and when it was approved. */
    approval: boolean().notNull().default(false),
    approvedAt: time("approved_at"),
    buildId: integer("build_id"),
  },
  (t) => [
    unique("runs_of_owner").on(t.ownerId, t.id),
    foreignKey({ name: "runs_spec", columns: [t.ownerId, t.specId], foreignColumns: [specs.ownerId, specs.id] }),
    foreignKey({
      name: "runs_deployment",
      columns: [t.ownerId, t.deploymentId],
      foreignColumns: [deployments.ownerId, deployments.id],
    }),
    foreignKey({ name: "runs_retry_of", columns: [t.ownerId, t.retryOfId], foreignColumns: [t.ownerId, t.id] }),
    index("runs_of_spec").on(t.specId, t.completedAt),
    index("runs_retries").on(t.retryOfId),
    check("runs_status", statusAgrees(lifeCycles.run, t)),
    ...enumChecks(t.trigger),
    check("runs_attempt", sql`${t.attempt} >= case when ${t.retryOfId} is null then 1 else 2 end`),
    check("runs_retry_of_older", sql`${t.retryOfId} < ${t.id}`),
    check("runs_times", timesAscend(t.createdAt, t.startedAt, t.completedAt)),
  ],
)

export const runEvents = pgTable(
  "run_events",
  {
    id: id(),
    runId: refersTo("run_id", () => runs.id),
    previousStatus: text("previous_status"),
    newStatus: text("new_status").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (t) => [
    index("run_events_of_run").on(t.runId, t.id),
    check("run_events_transition", transitionIsAllowed(lifeCycles.run, t)),
  ],
)

export const stepStatuses = ["queued", "running", "succeeded", "failed", "skipped"] as const

export const runSteps = pgTable(
  "run_steps",
  {
    runId: refersTo("run_id", () => runs.id),
    position: integer().notNull(),
    name: text().notNull(),
    status: text({ enum: stepStatuses }).notNull(),
    startedAt: time("started_at"),
    completedAt: time("completed_at"),
    errorMessage: text("error_message"),
  },
  (t) => [
    primaryKey({ columns: [t.runId, t.position] }),
    ...enumChecks(t.status),
    check("run_steps_times", timesAscend(t.startedAt, t.completedAt)),
  ],
)

/** The changes of a run and its steps in order, for its event stream. Added by triggers. */
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

/** Who can read a record. Never its owner (a trigger checks this), because lists would show the record twice. */
const shares = (name: string, record: { readonly id: AnyPgColumn }) =>
  pgTable(
    name,
    {
      userId: refersTo("user_id", () => users.id),
      recordId: refersTo("record_id", () => record.id),
    },
    (t) => [primaryKey({ columns: [t.userId, t.recordId] }), index(`${name}_of_record`).on(t.recordId, t.userId)],
  )

export const specShares = shares("spec_shares", specs)
export const buildShares = shares("build_shares", builds)
export const deploymentShares = shares("deployment_shares", deployments)
export const runShares = shares("run_shares", runs)

/**
 * The number of records that an account can read in each block of 1024 ids, own and shared ones. It makes pages deep in
 * a list fast. Kept by triggers.
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
