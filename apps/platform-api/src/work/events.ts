// Records move by events. The database derives their status and rejects forbidden transitions.
import type { SQLWrapper } from "drizzle-orm"
import { and, eq, inArray, type Orm, sql, theRow } from "../db/database.ts"
import { buildEvents, builds, deploymentEvents, deployments, runEvents, runs, runSteps } from "../db/schema/index.ts"
import type { buildStatuses, deploymentStatuses, runStatuses } from "../records/transitions.ts"

type BuildStatus = (typeof buildStatuses)[number]
type DeploymentStatus = (typeof deploymentStatuses)[number]
type RunStatus = (typeof runStatuses)[number]

const buildPhases: Readonly<Record<BuildStatus, { phase: string; progress: number } | undefined>> = {
  pending: undefined,
  uploading: { phase: "UPLOAD", progress: 10 },
  queued: { phase: "QUEUE", progress: 20 },
  building: { phase: "BUILD", progress: 40 },
  pushing: { phase: "UPLOAD_ARTIFACTS", progress: 60 },
  deploying: { phase: "FINALIZING", progress: 80 },
  completed: { phase: "FINALIZING", progress: 100 },
  failed: undefined,
  cancelled: undefined,
}

// Replicas' clocks may differ and a record's times must not go back, so an event is never earlier than the one before.
const notBefore = (at: Date, told: SQLWrapper) => sql<Date>`greatest(${at.toISOString()}::timestamptz, ${told})`

/** When a build or a run last moved. */
const movedAt = (tx: Orm, table: typeof builds | typeof runs, id: number) =>
  tx
    .select({ at: sql`coalesce(${table.startedAt}, ${table.createdAt})` })
    .from(table)
    .where(eq(table.id, id))

export const moveBuild = async (
  tx: Orm,
  id: number,
  status: BuildStatus,
  at: Date,
  set: { readonly statusMessage?: string | null; readonly websocketUrl?: string } = {},
): Promise<void> => {
  const { phase = null, progress } = buildPhases[status] ?? {}
  const createdAt = notBefore(at, movedAt(tx, builds, id))
  await tx.insert(buildEvents).values({ buildId: id, eventType: "status", newStatus: status, phase, createdAt })
  const values = { ...set, ...(progress === undefined ? {} : { progress }) }
  if (Object.keys(values).length > 0) await tx.update(builds).set(values).where(eq(builds.id, id))
}

export const moveDeployment = async (
  tx: Orm,
  id: number,
  newStatus: DeploymentStatus,
  {
    at,
    ...event
  }: { readonly at: Date } & Pick<typeof deploymentEvents.$inferInsert, "eventType" | "buildId" | "actor" | "message">,
): Promise<number> => {
  const deployedAt = tx.select({ at: deployments.lastDeployedAt }).from(deployments).where(eq(deployments.id, id))
  const createdAt = notBefore(at, deployedAt)
  const row = { deploymentId: id, newStatus, createdAt, ...event }
  return theRow(await tx.insert(deploymentEvents).values(row).returning({ id: deploymentEvents.id })).id
}

export const moveRun = async (tx: Orm, runId: number, newStatus: RunStatus, at: Date): Promise<void> => {
  const createdAt = notBefore(at, movedAt(tx, runs, runId))
  await tx.insert(runEvents).values({ runId, newStatus, createdAt })
}

/** The message of a step that waits although nothing breaks. */
export const waitsForApproval = "waits for approval"

/** Skips the steps that are unfinished when their run ends: none waits any more. What would have broken stays. */
export const skipSteps = async (tx: Orm, runId: number, at: Date): Promise<void> => {
  const open = and(eq(runSteps.runId, runId), inArray(runSteps.status, ["queued", "running"]))
  const completedAt = notBefore(at, runSteps.startedAt)
  const errorMessage = sql`nullif(${runSteps.errorMessage}, ${waitsForApproval})`
  await tx.update(runSteps).set({ status: "skipped", errorMessage, completedAt }).where(open)
}

export const runStepNames = ["version", "check", "approve", "build", "deploy", "verify"] as const
export type RunStepName = (typeof runStepNames)[number]

/** The codes of failed runs. */
export const runErrors = [
  "build-failed",
  "build-cancelled",
  "verify-failed",
  "invalid-ast",
  "spec-deleted",
  "deployment-stopped",
  "given-up",
  "internal-error",
] as const
export type RunError = { readonly code: (typeof runErrors)[number]; readonly message: string }

export const moveStep = async (
  tx: Orm,
  runId: number,
  name: RunStepName,
  status: "running" | "succeeded" | "failed" | "skipped",
  at: Date,
  errorMessage: string | null = null,
): Promise<void> => {
  const step = and(eq(runSteps.runId, runId), eq(runSteps.name, name))
  const times = status === "running" ? { startedAt: at } : { completedAt: notBefore(at, runSteps.startedAt) }
  await tx
    .update(runSteps)
    .set({ status, errorMessage, ...times })
    .where(step)
}
