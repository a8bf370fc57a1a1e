// Specs, their builds, deployments and runs, and who can read them.
import { pg } from "../drizzle.ts"
import { bytea, id, time, visibilities } from "./columns.ts"

const { bigint, boolean, integer, pgTable, text } = pg

/** The index of (owner, id) serves lists, and ensures that records refer only to records of the same owner. */
export const specs = pgTable("specs", {
  id: id(),
  ownerId: integer("owner_id").notNull(),
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
})

/** Rows are only added. Numbers have no gaps. */
export const specVersions = pgTable("spec_versions", {
  id: id(),
  specId: integer("spec_id").notNull(),
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
})

// Status columns have no default. Triggers set them from the events: see migrations/*_records_guards.sql.

export const builds = pgTable("builds", {
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
})

export const buildEvents = pgTable("build_events", {
  id: id(),
  buildId: integer("build_id").notNull(),
  eventType: text("event_type").notNull(),
  phase: text(),
  previousStatus: text("previous_status"),
  newStatus: text("new_status"),
  createdAt: time("created_at").notNull(),
})

/** The status is null only inside the transaction that creates the deployment. The first event sets it. */
export const deployments = pgTable("deployments", {
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
})

export const deploymentEvents = pgTable("deployment_events", {
  id: id(),
  deploymentId: integer("deployment_id").notNull(),
  eventType: text("event_type").notNull(),
  previousStatus: text("previous_status"),
  newStatus: text("new_status"),
  buildId: integer("build_id"),
  message: text(),
  actor: text().notNull(),
  createdAt: time("created_at").notNull(),
})

/** A retry has a higher id than the run that it retries, so retries can't form a cycle. */
export const runs = pgTable("runs", {
  id: id(),
  ownerId: integer("owner_id").notNull(),
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
})

export const runEvents = pgTable("run_events", {
  id: id(),
  runId: integer("run_id").notNull(),
  previousStatus: text("previous_status"),
  newStatus: text("new_status").notNull(),
  createdAt: time("created_at").notNull(),
})

export const runSteps = pgTable("run_steps", {
  runId: integer("run_id").notNull(),
  position: integer().notNull(),
  name: text().notNull(),
  status: text().notNull(),
  startedAt: time("started_at"),
  completedAt: time("completed_at"),
  errorMessage: text("error_message"),
})

/** The changes of a run and its steps in order, for its event stream. Added by triggers. */
export const runChanges = pgTable("run_changes", {
  id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
  runId: integer("run_id").notNull(),
  /** Null for the run itself. */
  step: text(),
  status: text().notNull(),
})

/** Who can read a record. Never its owner (a trigger checks this), because lists would show the record twice. */
const shares = (name: string) =>
  pgTable(name, { userId: integer("user_id").notNull(), recordId: integer("record_id").notNull() })

export const specShares = shares("spec_shares")
export const buildShares = shares("build_shares")
export const deploymentShares = shares("deployment_shares")
export const runShares = shares("run_shares")

/**
 * The number of records that an account can read in each block of 1024 ids, own and shared ones. It makes pages deep in
 * a list fast. Kept by triggers.
 */
export const recordBlocks = pgTable("record_blocks", {
  kind: text().notNull(),
  userId: integer("user_id").notNull(),
  block: integer().notNull(),
  records: integer().notNull(),
})
