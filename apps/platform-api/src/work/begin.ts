// Starts builds and runs: the record, its shares and its job, in one transaction.
import { eq, type Orm, theRow } from "../db/database.ts"
import { builds, buildShares, runs, runShares, runSteps } from "../db/schema/index.ts"
import { errors } from "../errors.ts"
import { lockReaders, shareRecord } from "../records/sharing.ts"
import { addJob, countJobs } from "./queue/jobs.ts"
import { type RunStepName, runStepNames } from "./events.ts"
import type { BuildRow, RunRow } from "./records.ts"

type NewBuild = Pick<BuildRow, "ownerId" | "specId" | "specVersionId" | "allowBreaking"> &
  Partial<Pick<BuildRow, "runId">>

/** Returns the build's id. */
export const beginBuild = async (tx: Orm, build: NewBuild, at: Date): Promise<number> => {
  const row = { ...build, status: "pending" as const, createdAt: at }
  await lockReaders(tx, build.specId)
  const { id } = theRow(await tx.insert(builds).values(row).returning({ id: builds.id }))
  await shareRecord(tx, buildShares, build.specId, id)
  await addJob(tx, "build", id, build.ownerId, build.specId)
  return id
}

/** Throws limit-reached. */
export const checkWaiting = async (tx: Orm, kind: "build" | "run", ownerId: number, limit: number): Promise<void> => {
  if ((await countJobs(tx, kind, ownerId)) < limit) return
  const path = kind === "build" ? "/api/builds" : "/api/automation/runs"
  throw errors.fail("limit-reached", {
    message: `You have ${limit} unfinished ${kind}s, the maximum (SVC_WAITING_${kind.toUpperCase()}S_PER_OWNER).`,
    hint: `Wait until one ends, or cancel one: POST ${path}/<id>/cancel.`,
  })
}

/** Starts a build that a person asked for. Throws limit-reached. */
export const beginOwnBuild = async (tx: Orm, build: NewBuild, limit: number, at: Date): Promise<number> => {
  await checkWaiting(tx, "build", build.ownerId, limit)
  return beginBuild(tx, build, at)
}

type NewRun = Pick<RunRow, "ownerId" | "specId" | "specVersionId" | "allowBreaking" | "approval" | "attempt"> &
  Partial<Pick<RunRow, "approvedAt" | "retryOfId" | "buildId">>

/**
 * Returns the run's id. Throws limit-reached.
 * @param done steps that needn't be repeated
 * @param limit the maximum number of active runs per owner
 */
export const beginRun = async (
  tx: Orm,
  run: NewRun,
  done: ReadonlySet<RunStepName>,
  limit: number,
  at: Date,
): Promise<number> => {
  await checkWaiting(tx, "run", run.ownerId, limit)
  const row = { ...run, workflow: "publish", status: "queued", trigger: "manual", createdAt: at } as const
  await lockReaders(tx, run.specId)
  const { id } = theRow(await tx.insert(runs).values(row).returning({ id: runs.id }))
  await tx.insert(runSteps).values(
    runStepNames.map((name, position) => {
      const times = done.has(name) ? { startedAt: at, completedAt: at } : {}
      return { runId: id, position, name, status: done.has(name) ? "succeeded" : "queued", ...times } as const
    }),
  )
  await shareRecord(tx, runShares, run.specId, id)
  await addJob(tx, "run", id, run.ownerId, run.specId)
  return id
}

/** The steps that a retry skips. Without a completed build, the version is compared again with what is deployed by then. */
export const stepsDone = async (tx: Orm, run: RunRow, built: boolean): Promise<ReadonlySet<RunStepName>> => {
  const steps = await tx.select().from(runSteps).where(eq(runSteps.runId, run.id))
  const succeeded = new Set(steps.filter(({ status }) => status === "succeeded").map(({ name }) => name))
  return new Set(
    runStepNames.filter((name) => succeeded.has(name) && (built || name === "version" || name === "check")),
  )
}
