// A publish run takes a version to readers step by step, and can wait for approval.
import { and, asc, eq, isNull, type Orm } from "../../db/database.ts"
import { builds, runs, runSteps, stacks } from "../../db/schema/index.ts"
import { lifeCycles } from "../../records/transitions.ts"
import { AstTooLarge } from "../../registry/ast/document-fault.ts"
import { lineOfSpec } from "../../registry/publication.ts"
import { beginBuild } from "../begin.ts"
import { endBuild } from "../endings.ts"
import { moveRun, moveStep, type RunError, runErrors, type RunStepName } from "../events.ts"
import { runStepNames, skipSteps, waitsForApproval } from "../events.ts"
import { dropJob, type Job, lockJob, restJob } from "../queue/jobs.ts"
import type { Handlers, Outcome } from "../queue/worker.ts"
import { deploymentOf, lockBuild, lockRun, readBuild, readVersion, type RunRow } from "../records.ts"
import type { WorkContext } from "./context.ts"

type StepRow = typeof runSteps.$inferSelect

/** Ends the unfinished steps and the run. */
const endRun = async (
  tx: Orm,
  run: RunRow,
  status: "failed" | "cancelled",
  at: Date,
  error?: RunError & { readonly step?: RunStepName },
): Promise<void> => {
  if (error?.step !== undefined) await moveStep(tx, run.id, error.step, "failed", at, error.message)
  if (error !== undefined) {
    await tx.update(runs).set({ errorCode: error.code, errorMessage: error.message }).where(eq(runs.id, run.id))
  }
  await skipSteps(tx, run.id, at)
  await moveRun(tx, run.id, status, at)
  await dropJob(tx, "run", run.id)
}

/** Ends the build of a run that ends before it: no reader may get what failed or was cancelled. */
const endBuildOf = async (
  tx: Orm,
  { buildId }: RunRow,
  status: "failed" | "cancelled",
  message: string,
  at: Date,
): Promise<void> => {
  if (buildId === null) return
  await lockJob(tx, "build", buildId)
  const build = await lockBuild(tx, buildId)
  if (!lifeCycles.build.ended.includes(build.status)) await endBuild(tx, build, status, message, at)
}

/** Cancels a run that no worker holds, or at the request of its worker, and its build. */
export const cancelRun = async (tx: Orm, run: RunRow, at: Date): Promise<void> => {
  await endBuildOf(tx, run, "cancelled", "its run was cancelled", at)
  await endRun(tx, run, "cancelled", at)
}

/** Ends the unfinished builds and runs of a spec whose jobs are locked: nothing of what began before may publish it. */
export const endWorkOf = async (tx: Orm, specId: number, error: RunError, at: Date): Promise<void> => {
  // First, because this returns a deployment in progress to its previous status.
  const open = and(eq(builds.specId, specId), isNull(builds.completedAt))
  for (const build of await tx.select().from(builds).where(open).for("no key update")) {
    await endBuild(tx, build, "failed", error.message, at)
  }
  const going = and(eq(runs.specId, specId), isNull(runs.completedAt))
  for (const run of await tx.select().from(runs).where(going).for("no key update")) {
    await (run.status === "queued" ? endRun(tx, run, "cancelled", at) : endRun(tx, run, "failed", at, error))
  }
}

export const runHandler = ({ now, diffToDeployed }: WorkContext): Handlers["run"] => {
  const fail = async (
    tx: Orm,
    run: RunRow,
    step: RunStepName,
    code: RunError["code"],
    message: string,
  ): Promise<Outcome> => {
    await endRun(tx, run, "failed", now(), { code, message, step })
    return "rest"
  }

  const done = async (tx: Orm, run: RunRow, step: RunStepName, isSkipped = false): Promise<Outcome> => {
    await moveStep(tx, run.id, step, isSkipped ? "skipped" : "succeeded", now())
    return "again"
  }

  const diffOfRun = async (tx: Orm, { specId, specVersionId }: RunRow) =>
    diffToDeployed(tx, specId, await readVersion(tx, specVersionId))

  /** The build is a separate record. The run waits until it changes. */
  const awaitBuild = async (
    tx: Orm,
    run: RunRow,
    job: Job,
    step: "build" | "deploy",
    enough: readonly string[],
  ): Promise<Outcome> => {
    // The build can't change meanwhile, because its steps lock this run's job too.
    const build = await readBuild(tx, run.buildId)
    if (enough.includes(build.status)) return done(tx, run, step)
    if (build.status === "failed" || build.status === "cancelled") {
      return fail(tx, run, step, `build-${build.status}`, build.statusMessage ?? `the build was ${build.status}`)
    }
    await restJob(tx, job, null)
    return "rest"
  }

  const startBuild = async (tx: Orm, run: RunRow, at: Date, allowBreaking: boolean): Promise<void> => {
    const { ownerId, specId, specVersionId, id: runId } = run
    const buildId = await beginBuild(tx, { ownerId, specId, specVersionId, allowBreaking, runId }, at)
    await tx.update(runs).set({ buildId }).where(eq(runs.id, runId))
  }

  /** @param row the step, as it is stored */
  const doStep = async (tx: Orm, run: RunRow, step: RunStepName, row: StepRow, job: Job): Promise<Outcome> => {
    const at = now()
    if (row.status === "queued") await moveStep(tx, run.id, step, "running", at)
    const { specId } = run
    switch (step) {
      case "version":
        await readVersion(tx, run.specVersionId)
        return done(tx, run, step)
      case "check":
        await diffOfRun(tx, run)
        return done(tx, run, step)
      case "approve": {
        const isApproved = run.approvedAt !== null
        const diff = await diffOfRun(tx, run)
        const breaks = diff?.verdict === "breaking" && !run.allowBreaking
        if (!breaks && (isApproved || !run.approval)) return done(tx, run, step, !isApproved)
        const message = breaks ? `breaking-change: ${diff.breaking}` : waitsForApproval
        // Another version may have been deployed meanwhile, so only the break that was shown is approved, for this build.
        if (isApproved && row.errorMessage === message) {
          await done(tx, run, step)
          const next = now()
          await moveStep(tx, run.id, "build", "running", next)
          await startBuild(tx, run, next, true)
          return "again"
        }
        await tx.update(runs).set({ errorMessage: null, approvedAt: null }).where(eq(runs.id, run.id))
        const waits = and(eq(runSteps.runId, run.id), eq(runSteps.name, step))
        await tx.update(runSteps).set({ errorMessage: message }).where(waits)
        await moveRun(tx, run.id, "waiting", at)
        // The next runs of the spec can go on.
        await dropJob(tx, "run", run.id)
        return "rest"
      }
      case "build": {
        if (run.buildId === null) {
          await startBuild(tx, run, at, run.allowBreaking)
          await restJob(tx, job, null)
          return "rest"
        }
        return awaitBuild(tx, run, job, step, ["deploying", "completed"])
      }
      case "deploy":
        return awaitBuild(tx, run, job, step, ["completed"])
      case "verify": {
        const version = await readVersion(tx, run.specVersionId)
        const deployment = await deploymentOf(tx, specId)
        const line = lineOfSpec(specId)
        const [served] = await tx.select({ hash: stacks.contentHash }).from(stacks).where(eq(stacks.line, line))
        // A later build may have replaced it by now.
        const isReplaced = served !== undefined && deployment?.currentBuildId !== run.buildId
        if (served?.hash !== version.contentHash && !isReplaced) {
          return fail(tx, run, step, "verify-failed", "the registry serves a different version")
        }
        await done(tx, run, step)
        const deploymentId = deployment?.id ?? null
        await tx.update(runs).set({ deploymentId }).where(eq(runs.id, run.id))
        await moveRun(tx, run.id, "succeeded", at)
        await dropJob(tx, "run", run.id)
        return "rest"
      }
      default:
        return step satisfies never
    }
  }

  return {
    step: async (job, inStep) => {
      let begun: RunStepName | undefined
      const step = inStep(async (tx) => {
        const run = await lockRun(tx, job.id)
        if (run.status === "cancelling") {
          await cancelRun(tx, run, now())
          return "rest"
        }
        if (run.status === "queued") {
          await moveRun(tx, run.id, "running", now())
          return "again"
        }
        const steps = await tx.select().from(runSteps).where(eq(runSteps.runId, run.id)).orderBy(asc(runSteps.position))
        const next = steps.find(({ status }) => status === "queued" || status === "running")
        const name = runStepNames.find((known) => known === next?.name)
        if (run.status !== "running" || next === undefined || name === undefined) {
          await dropJob(tx, "run", run.id)
          return "rest"
        }
        begun = name
        return doStep(tx, run, name, next, job)
      })
      return step.catch(async (error: unknown) => {
        const name = begun
        if (!(error instanceof AstTooLarge) || name === undefined) throw error
        return inStep(async (tx) => fail(tx, await lockRun(tx, job.id), name, "invalid-ast", error.message))
      })
    },
    fail: (job, inStep, reason) =>
      inStep(async (tx) => {
        const run = await lockRun(tx, job.id)
        // Only a running run can fail.
        if (run.status === "queued") await moveRun(tx, run.id, "running", now())
        await endBuildOf(tx, run, "failed", "its run failed", now())
        const code = runErrors.find((known) => reason.startsWith(`${known}: `)) ?? "internal-error"
        await endRun(tx, run, "failed", now(), { code, message: reason.replace(`${code}: `, "") })
      }),
  }
}
