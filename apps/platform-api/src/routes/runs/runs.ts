import { z } from "@svc/openapi"
import { runs, runSteps } from "../../db/schema/index.ts"
import { runStatuses } from "../../records/transitions.ts"
import { isVisible, listVisible } from "../../records/visible.ts"
import { errors } from "../../errors.ts"
import type { Dependencies } from "../../dependencies.ts"
import type { Api } from "../api.ts"
import { serveList, serveOne } from "../owned.ts"
import { fieldsOf, id, record, type Row, text, time } from "../record.ts"

const r = fieldsOf("r")
const run = record({
  id: r(runs.id, id.meta({ description: "Its id" })),
  workflow: r(runs.workflow, text),
  status: r(runs.status, z.enum(runStatuses)),
  trigger: r(runs.trigger, z.enum(["manual", "schedule", "event"])),
  spec_id: r(runs.specId, id.meta({ description: "The published spec" })),
  deployment_id: r(runs.deploymentId, id.meta({ description: "The deployment it made" })),
  attempt: r(runs.attempt, z.int().positive().meta({ description: "2 for the first retry" })),
  retry_of_id: r(runs.retryOfId, id.meta({ description: "The run that this one retries" })),
  error_code: r(runs.errorCode, text.meta({ description: "Why it failed, as a code" })),
  error_message: r(runs.errorMessage, text.meta({ description: "The reason in words" })),
  created_at: r(runs.createdAt, time),
  started_at: r(runs.startedAt, time),
  completed_at: r(runs.completedAt, time),
})
const runAnswer = run.schema.openapi("Run")

const p = fieldsOf("p")
const step = record(
  {
    name: p(runSteps.name, text),
    status: p(runSteps.status, z.enum(["queued", "running", "succeeded", "failed", "skipped"])),
    started_at: p(runSteps.startedAt, time),
    completed_at: p(runSteps.completedAt, time),
    error_message: p(runSteps.errorMessage, text),
  },
  "step_",
)

export const runsSql = {
  list: listVisible("runs", run.columns, "runs r", "r"),
  // One statement, so that the run and its steps are consistent. A run without steps gives one row.
  one: `
    select ${run.columns}, ${step.columns} from runs r left join run_steps p on p.run_id = r.id
    where ${isVisible("runs", "r")} order by p.position`,
}

export const runWithSteps = runAnswer.extend({ steps: z.array(step.schema) })

/** A run with its steps, from the rows of `one`. */
export const presentRun = (rows: readonly Row[]): z.infer<typeof runWithSteps> => {
  const [first] = rows
  if (first === undefined) throw errors.fail("run-not-found")
  return { ...run.present(first), steps: rows.filter(step.isIn).map(step.present) }
}

export const runRoutes = (api: Api, dependencies: Dependencies): void => {
  const path = "/api/automation/runs"
  serveList(api, dependencies, path, "Runs", runAnswer, runsSql.list, run.present)
  const texts = { response: "The run, with its steps in order", operation: "Includes its steps." }
  serveOne(api, dependencies, path, "Run", runWithSteps, texts, runsSql.one, presentRun)
}
