// Builds, and the deployments they create.
import { pg, sql } from "../drizzle.ts"
import { id, time } from "./columns.ts"
import { specs, specVersions } from "./specs.ts"

const { boolean, check, foreignKey, index, integer, pgTable, text, unique, uniqueIndex } = pg

// Status columns have no default. Triggers set them from the events: see migrations/*_records_guards.sql.

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
    /** The run that started it. */
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

/** The status is null only inside the transaction that creates the deployment. The first event sets it. */
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
    /** The stack's name in the registry, kept while stopped. Null for imported deployments. */
    stackName: text("stack_name"),
    /** What an updating deployment is doing, the event that started it, and the status to return to if it fails. */
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
