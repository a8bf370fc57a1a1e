import { z } from "@svc/openapi"
import { isoTime } from "../db/time.ts"
import { errors } from "../errors.ts"
import { isVisible, listVisible } from "../records/visible.ts"
import type { Services } from "../services.ts"
import { sendOwn } from "./conditional.ts"
import { type Api, endpoint } from "./endpoint.ts"
import { isoTimeOrNull, reading, recordId, sendRecords } from "./owned.ts"
import { pageQuery } from "./paging.ts"
import { run, runStep, runWithSteps } from "./record-schemas.ts"

type Run = z.infer<typeof run>
type Step = z.infer<typeof runStep>

const tables = { table: "runs", shares: "run_shares" } as const

const columns = `r.id, r.workflow, r.status, r.trigger, r.spec_id, r.deployment_id, r.attempt, r.retry_of_id, r.error_code,
  r.error_message, r.created_at, r.started_at, r.completed_at`

const present = (row: Run): Run => ({
  ...row,
  created_at: isoTime(row.created_at),
  started_at: isoTimeOrNull(row.started_at),
  completed_at: isoTimeOrNull(row.completed_at),
})

export const runsSql = {
  list: listVisible(tables, columns, "runs r", "r"),
  // One statement, so that the run and its steps are of one moment. A run without steps gives one row.
  one: `
    select ${columns}, p.name as step_name, p.status as step_status, p.started_at as step_started_at,
      p.completed_at as step_completed_at, p.error_message as step_error_message
    from runs r left join run_steps p on p.run_id = r.id
    where ${isVisible(tables, "r")} order by p.position`,
}

type Joined = Run & {
  step_name: string | null
  step_status: Step["status"]
  step_started_at: string | null
  step_completed_at: string | null
  step_error_message: string | null
}

const split = (joined: Joined) => {
  const { step_name, step_status, step_started_at, step_completed_at, step_error_message, ...row } = joined
  if (step_name === null) return { row, step: undefined }
  const step: Step = {
    name: step_name,
    status: step_status,
    started_at: isoTimeOrNull(step_started_at),
    completed_at: isoTimeOrNull(step_completed_at),
    error_message: step_error_message,
  }
  return { row, step }
}

export const runRoutes = (api: Api, services: Services): void => {
  endpoint(
    api,
    services,
    {
      ...reading(z.array(run), "Runs"),
      path: "/api/automation/runs",
      id: "listRuns",
      summary: "The workflow runs that the caller sees, newest first",
      query: pageQuery,
      codes: ["invalid-request"],
    },
    (c) => sendRecords<Run>(c, runsSql.list, present),
  )

  endpoint(
    api,
    services,
    {
      ...reading(runWithSteps, "The run, its steps in order"),
      path: "/api/automation/runs/{id}",
      id: "getRun",
      summary: "One workflow run with its steps",
      codes: ["invalid-request", "run-not-found"],
    },
    async (c) => {
      const id = recordId(c, "run-not-found")
      const joined = (await c.get("queries").query<Joined>(runsSql.one, [c.get("principal").userId, id])).map(split)
      const [first] = joined
      if (first === undefined) throw errors.fail("run-not-found")
      return sendOwn(c, JSON.stringify({ ...present(first.row), steps: joined.flatMap(({ step }) => step ?? []) }))
    },
  )
}
