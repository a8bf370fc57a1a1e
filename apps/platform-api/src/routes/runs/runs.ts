import { z } from "@svc/openapi"
import { asc, desc, eq, prepared, theRow } from "../../db/database.ts"
import { runs, runSteps, runTriggers, stepStatuses } from "../../db/schema/index.ts"
import { runStatuses } from "../../records/transitions.ts"
import { isOnPage, isVisible, selectVisible } from "../../records/visible.ts"
import { createRoutes } from "../api.ts"
import { sendOwn } from "../conditional.ts"
import { listRoute, readOne, readPage, recordRoute } from "../owned.ts"
import { id, record, text, time } from "../record.ts"

const run = record({
  id: [runs.id, id.meta({ description: "Its id" })],
  workflow: [runs.workflow, text],
  status: [runs.status, z.enum(runStatuses)],
  trigger: [runs.trigger, z.enum(runTriggers)],
  spec_id: [runs.specId, id.meta({ description: "The published spec" })],
  deployment_id: [runs.deploymentId, id.meta({ description: "The deployment it made" })],
  attempt: [runs.attempt, z.int().positive().meta({ description: "2 for the first retry" })],
  retry_of_id: [runs.retryOfId, id.meta({ description: "The run that this one retries" })],
  error_code: [runs.errorCode, text.meta({ description: "Why it failed, as a code" })],
  error_message: [runs.errorMessage, text.meta({ description: "The reason in words" })],
  created_at: [runs.createdAt, time],
  started_at: [runs.startedAt, time],
  completed_at: [runs.completedAt, time],
})
const runAnswer = run.schema.openapi("Run")

const step = record({
  name: [runSteps.name, text],
  status: [runSteps.status, z.enum(stepStatuses)],
  started_at: [runSteps.startedAt, time],
  completed_at: [runSteps.completedAt, time],
  error_message: [runSteps.errorMessage, text],
})

export const runWithSteps = runAnswer.extend({ steps: z.array(step.schema) })

export const runStatements = {
  list: prepared((db) =>
    db.select(run.columns).from(runs).where(isOnPage(db, "runs")).orderBy(desc(runs.id)).prepare("runs"),
  ),
  // One statement, so that the run and its steps are consistent.
  one: prepared((db) =>
    db
      .select({ run: run.columns, step: step.columns })
      .from(runs)
      .leftJoin(runSteps, eq(runSteps.runId, runs.id))
      .where(isVisible(db, "runs"))
      .orderBy(asc(runSteps.position))
      .prepare("run"),
  ),
  seen: prepared((db) => selectVisible(db, "runs").prepare("seen_run")),
}

/** A run with its steps, from the rows of `one`. */
export const presentRun = (rows: Awaited<ReturnType<ReturnType<typeof runStatements.one>["execute"]>>) => ({
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
