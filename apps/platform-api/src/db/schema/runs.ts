import { pg, sql } from "../drizzle.ts"
import { deployments } from "./deployments.ts"
import { id, time } from "./columns.ts"
import { owner, specs } from "./specs.ts"

const { bigint, boolean, check, foreignKey, index, integer, pgTable, primaryKey, text, unique } = pg

// Status columns have no default. Triggers set them from the events: see migrations/*_records_guards.sql.

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
    /** Whether it waits for approval even if nothing breaks, and when it was approved. */
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
    // A retry has a higher id than what it retries, so retries can't form a cycle.
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
