import { json, z } from "@svc/openapi"
import type { PreparedVersion, ReadAst } from "../../compiler/read-upload.ts"
import { eq, type Orm } from "../../db/database.ts"
import { runs } from "../../db/schema/index.ts"
import { errors } from "../../errors.ts"
import { ownRun, ownSpec } from "../../records/own.ts"
import { addVersion, versionOrLatest } from "../../records/spec-versions.ts"
import { beginRun, stepsDone } from "../../work/begin.ts"
import { moveRun } from "../../work/events.ts"
import { addJob, wakeJob } from "../../work/queue/jobs.ts"
import { readBuild, type RunRow } from "../../work/records.ts"
import { cancelRun } from "../../work/steps/run.ts"
import { createRoutes, idPath, jsonRequest } from "../api.ts"
import { createRoute } from "../create-route.ts"
import { astPayload, nothing } from "../body-fields.ts"
import { newBuild } from "../builds/changes.ts"
import { type Change, change, changeFailures, changingWithBody } from "../change.ts"
import { deployCodes, firstLook } from "../deployments/deploying.ts"
import { versionIn } from "../large-body.ts"
import { presentRun, runStatements, runWithSteps } from "./runs.ts"

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

/** What can be done to a run, and in which statuses. `work` returns the id of the resulting run. */
const operations: Readonly<
  Record<
    "resume" | "retry" | "cancel",
    {
      readonly from: readonly string[]
      readonly done: string
      readonly summary: string
      /** @param limit the maximum number of active runs per owner */
      readonly work: (run: RunRow, change: Change, limit: number) => Promise<number>
    }
  >
> = {
  resume: {
    from: ["waiting"],
    done: "resumed",
    summary: "Resume a run",
    work: async (run, { tx, at }) => {
      await moveRun(tx, run.id, "running", at)
      await tx.update(runs).set({ approvedAt: at }).where(eq(runs.id, run.id))
      await addJob(tx, "run", run.id, run.ownerId, run.specId)
      return run.id
    },
  },
  retry: {
    from: ["failed", "cancelled"],
    done: "retried",
    summary: "Retry a run",
    work: async (run, { tx, at, userId }, limit) => {
      const [again] = await tx.select({ id: runs.id }).from(runs).where(eq(runs.retryOfId, run.id)).limit(1)
      if (again !== undefined)
        throw errors.fail("run-state", { message: `The run was already retried by run ${again.id}.` })
      await ownSpec(tx, userId, run.specId)
      const built = run.buildId !== null && (await readBuild(tx, run.buildId)).status === "completed"
      const { ownerId, specId, specVersionId, allowBreaking, approval, approvedAt } = run
      const same = { ownerId, specId, specVersionId, allowBreaking, approval, approvedAt }
      const next = { ...same, attempt: run.attempt + 1, retryOfId: run.id, buildId: built ? run.buildId : null }
      return beginRun(tx, next, await stepsDone(tx, run, built), limit, at)
    },
  },
  cancel: {
    from: ["queued", "waiting", "running"],
    done: "cancelled",
    summary: "Cancel a run",
    work: async (run, { tx, at }) => {
      if (run.status === "running") {
        await moveRun(tx, run.id, "cancelling", at)
        await wakeJob(tx, "run", run.id)
      } else await cancelRun(tx, run, at)
      return run.id
    },
  },
}

/** The new version that a run publishes; undefined for one that exists. */
const versionOf = (input: z.infer<typeof newRun>, ast: ReadAst | undefined): PreparedVersion | undefined => {
  if (ast === undefined) return undefined
  if (input.spec_version_id == null) return versionIn(ast)
  const reason = "can't be used together with ast_payload"
  throw errors.fail("invalid-request", { details: { path: "spec_version_id", reason } })
}

export const runChangeRoutes = createRoutes()

const startRun = createRoute({
  method: "post",
  path: "/api/automation/runs",
  operationId: "startRun",
  summary: "Start a publish run",
  description: "Publishes an AST in six steps: version, check, approve, build, deploy, verify.",
  ...changingWithBody(),
  request: { body: jsonRequest(newRun) },
  responses: {
    202: json("Accepted", runWithSteps),
    ...changeFailures("invalid-ast", "spec-not-found", ...deployCodes),
  },
})
runChangeRoutes.openapi(startRun, (c) => {
  const input = c.req.valid("json")
  const prepared = versionOf(input, c.get("upload")?.ast)
  return change(c, async ({ tx, at, userId, config, tell }) => {
    // The lock on the spec gives its runs the same order as their versions.
    const spec = await ownSpec(tx, userId, input.spec_id)
    await firstLook(tx, spec, config.streamUrlTemplate, at)
    const limit = config.versionsPerSpec
    const added = prepared && (await addVersion(tx, spec, prepared, { message: null, limit, at }))
    if (added?.isNew === true) await tell("version.create", `spec:${spec.id} version:${added.number}`)
    const specVersionId = added?.id ?? (await versionOrLatest(tx, spec.id, input.spec_version_id))
    const { allow_breaking: allowBreaking, approval } = input
    const run = { ownerId: userId, specId: spec.id, specVersionId, allowBreaking, approval, attempt: 1 }
    const id = await beginRun(tx, run, new Set(), config.perOwner.waitingRuns, at)
    await tell("run.create", `run:${id}`)
    return accepted(tx, userId, id)
  })
})

for (const verb of ["resume", "retry", "cancel"] as const) {
  const { from, done, summary, work } = operations[verb]
  const codes = [
    "run-not-found",
    "run-state",
    ...(verb === "retry" ? (["spec-not-found", "limit-reached"] as const) : []),
  ] as const
  const route = createRoute({
    method: "post",
    path: `/api/automation/runs/{id}/${verb}`,
    operationId: `${verb}Run`,
    summary,
    ...changingWithBody("run-not-found"),
    request: { params: idPath, body: jsonRequest(nothing) },
    responses: { 202: json("Accepted", runWithSteps), ...changeFailures(...codes) },
  })
  runChangeRoutes.openapi(route, (c) => {
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
