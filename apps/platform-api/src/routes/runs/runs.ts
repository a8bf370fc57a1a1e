import { json, z } from "@svc/openapi"
import { asc, desc, eq, type Orm, prepared, theRow } from "../../db/database.ts"
import { runs, runSteps, runTriggers, stepStatuses } from "../../db/schema/index.ts"
import { runStatuses } from "../../records/transitions.ts"
import { isOnPage, isVisible, selectVisible } from "../../records/visible.ts"
import { astPayload, createRoutes, idPath, jsonRequest, nothing } from "../api.ts"
import { createRoute, sendOwn } from "../create-route.ts"
import { listRoute, readOne, readPage, recordRoute } from "../owned.ts"
import { record, recordId, text, time } from "../record.ts"
import type { PreparedVersion, ReadAst } from "../../compiler/tasks.ts"
import { type ErrorCode, errors, wrongField } from "../../errors.ts"
import { ownRun, ownSpec } from "../../records/own.ts"
import { addVersion, versionOrLatest } from "../../records/spec-versions.ts"
import { beginRun, checkWaiting, stepsDone } from "../../work/begin.ts"
import { moveRun, runStepNames } from "../../work/events.ts"
import { addJob, wakeRun } from "../../work/queue/jobs.ts"
import { readBuild, type RunRow } from "../../work/records.ts"
import { cancelRun } from "../../work/steps/run.ts"
import { newBuild } from "../builds/builds.ts"
import { type Change, change, changeFailures, changingWithBody, deployCodes, firstLook, versionIn } from "../change.ts"

const runRecord = record({
  id: [runs.id, recordId.meta({ description: "Its id" })],
  workflow: [runs.workflow, text],
  status: [runs.status, z.enum(runStatuses)],
  trigger: [runs.trigger, z.enum(runTriggers)],
  spec_id: [runs.specId, recordId.meta({ description: "The published spec" })],
  deployment_id: [runs.deploymentId, recordId.meta({ description: "The deployment it made" })],
  attempt: [runs.attempt, z.int().positive().meta({ description: "2 for the first retry" })],
  retry_of_id: [runs.retryOfId, recordId.meta({ description: "The run that this one retries" })],
  error_code: [runs.errorCode, text.meta({ description: "Why it failed, as a code" })],
  error_message: [runs.errorMessage, text.meta({ description: "The reason in words" })],
  created_at: [runs.createdAt, time],
  started_at: [runs.startedAt, time],
  completed_at: [runs.completedAt, time],
})
const runAnswer = runRecord.schema.openapi("Run")

const step = record({
  name: [runSteps.name, text],
  status: [runSteps.status, z.enum(stepStatuses)],
  started_at: [runSteps.startedAt, time],
  completed_at: [runSteps.completedAt, time],
  error_message: [runSteps.errorMessage, text],
})

const runWithSteps = runAnswer.extend({ steps: z.array(step.schema) })

export const runStatements = {
  list: prepared((db) =>
    db.select(runRecord.columns).from(runs).where(isOnPage("runs")).orderBy(desc(runs.id)).prepare("runs"),
  ),
  // One statement, so that the run and its steps are consistent.
  one: prepared((db) =>
    db
      .select({ run: runRecord.columns, step: step.columns })
      .from(runs)
      .leftJoin(runSteps, eq(runSteps.runId, runs.id))
      .where(isVisible(db, "runs"))
      .orderBy(asc(runSteps.position))
      .prepare("run"),
  ),
  seen: prepared((db) => selectVisible(db, "runs").prepare("seen_run")),
}

const presentRun = (rows: Awaited<ReturnType<ReturnType<typeof runStatements.one>["execute"]>>) => ({
  ...theRow(rows).run,
  steps: rows.flatMap((row) => row.step ?? []),
})

export const runRoutes = createRoutes()

const path = "/api/automation/runs"
const listRuns = listRoute(path, "Runs", runAnswer)
runRoutes.openapi(listRuns, async (c) => sendOwn(c, await readPage(c, runStatements.list, c.req.valid("query"))))

const texts = { response: "The run, with its steps in order", description: "Includes its steps." }
const getRun = recordRoute(path, "Run", runWithSteps, texts)
runRoutes.openapi(getRun, async (c) =>
  sendOwn(c, presentRun(await readOne(c, runStatements.one, c.req.valid("param").id, "run-not-found"))),
)

const newRun = newBuild.extend({
  workflow: z.literal("publish", "must be publish").meta({ description: "The only workflow" }),
  ast_payload: astPayload
    .optional()
    .meta({ type: ["object", "null"], description: "A new version's AST. Default: the latest version again" }),
  approval: z.boolean().default(false).meta({ description: "Waits for a resume before it builds" }),
})

const accepted = async (tx: Orm, userId: number, id: number) =>
  ({
    status: 202,
    body: presentRun(await runStatements.one(tx).execute({ account: userId, id })),
    location: `/api/automation/runs/${id}`,
  }) as const

/** The new version that a run publishes; undefined for one that exists. */
const versionOf = (input: z.infer<typeof newRun>, ast: ReadAst | undefined): PreparedVersion | undefined => {
  if (ast === undefined) return undefined
  if (input.spec_version_id == null) return versionIn(ast)
  throw wrongField("invalid-request", "spec_version_id", "can't be used together with ast_payload")
}

const startRun = createRoute({
  method: "post",
  path: "/api/automation/runs",
  operationId: "startRun",
  summary: "Start a publish run",
  description: `Publishes an AST in steps: ${runStepNames.join(", ")}.`,
  ...changingWithBody(),
  request: { body: jsonRequest(newRun) },
  responses: {
    202: json("Accepted", runWithSteps),
    ...changeFailures("invalid-ast", "spec-not-found", ...deployCodes),
  },
})
runRoutes.openapi(startRun, (c) => {
  const input = c.req.valid("json")
  const version = versionOf(input, c.get("upload")?.ast)
  return change(c, async ({ tx, at, userId, config, tell }) => {
    // The lock on the spec gives its runs the same order as their versions.
    const spec = await ownSpec(tx, userId, input.spec_id)
    await firstLook(tx, spec, config.streamUrlTemplate, at)
    const limit = config.versionsPerSpec
    const added = version && (await addVersion(tx, spec, version, { message: null, limit, at }))
    if (added?.isNew === true) await tell("version.create", `spec:${spec.id} version:${added.number}`)
    const specVersionId = added?.id ?? (await versionOrLatest(tx, spec.id, input.spec_version_id))
    const { allow_breaking: allowBreaking, approval } = input
    const run = { ownerId: userId, specId: spec.id, specVersionId, allowBreaking, approval, attempt: 1 }
    const id = await beginRun(tx, run, new Set(), config.perOwner.waitingRuns, at)
    await tell("run.create", `run:${id}`)
    return accepted(tx, userId, id)
  })
})

/**
 * A route for what can be done to a run in some statuses.
 * @param work returns the id of the resulting run; `limit` is the maximum number of active runs per owner
 */
const operation = (
  verb: "resume" | "retry" | "cancel",
  summary: string,
  done: string,
  from: readonly string[],
  work: (run: RunRow, change: Change, limit: number) => Promise<number>,
  ...more: readonly ErrorCode[]
) => {
  const route = createRoute({
    method: "post",
    path: `/api/automation/runs/{id}/${verb}`,
    operationId: `${verb}Run`,
    summary,
    ...changingWithBody("run-not-found"),
    request: { params: idPath, body: jsonRequest(nothing) },
    responses: { 202: json("Accepted", runWithSteps), ...changeFailures("run-not-found", "run-state", ...more) },
  })
  runRoutes.openapi(route, (c) => {
    const { id } = c.req.valid("param")
    return change(c, async (made) => {
      const { tx, userId, config, tell } = made
      const run = await ownRun(tx, userId, id)
      if (!from.includes(run.status)) {
        throw errors.fail("run-state", { message: `The run is ${run.status} and can't be ${done}.` })
      }
      const result = await work(run, made, config.perOwner.waitingRuns)
      await tell(`run.${verb}`, `run:${result}`)
      return accepted(tx, userId, result)
    })
  })
}

const resume = async (run: RunRow, { tx, at }: Change, limit: number): Promise<number> => {
  await checkWaiting(tx, "run", run.ownerId, limit)
  await moveRun(tx, run.id, "running", at)
  await tx.update(runs).set({ approvedAt: at }).where(eq(runs.id, run.id))
  await addJob(tx, "run", run.id, run.ownerId, run.specId)
  return run.id
}
operation("resume", "Resume a run", "resumed", ["waiting"], resume, "limit-reached")
const retry = async (run: RunRow, { tx, at, userId }: Change, limit: number): Promise<number> => {
  const [again] = await tx.select({ id: runs.id }).from(runs).where(eq(runs.retryOfId, run.id)).limit(1)
  if (again !== undefined)
    throw errors.fail("run-state", { message: `The run was already retried by run ${again.id}.` })
  await ownSpec(tx, userId, run.specId)
  const built = run.buildId !== null && (await readBuild(tx, run.buildId)).status === "completed"
  const { ownerId, specId, specVersionId, allowBreaking, approval, approvedAt } = run
  const same = { ownerId, specId, specVersionId, allowBreaking, approval, approvedAt }
  const next = { ...same, attempt: run.attempt + 1, retryOfId: run.id, buildId: built ? run.buildId : null }
  return beginRun(tx, next, await stepsDone(tx, run, built), limit, at)
}
operation("retry", "Retry a run", "retried", ["failed", "cancelled"], retry, "spec-not-found", "limit-reached")
operation("cancel", "Cancel a run", "cancelled", ["queued", "waiting", "running"], async (run, { tx, at }) => {
  if (run.status === "running") {
    await moveRun(tx, run.id, "cancelling", at)
    await wakeRun(tx, run.id)
  } else await cancelRun(tx, run, at)
  return run.id
})
