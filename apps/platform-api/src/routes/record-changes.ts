import { type Context } from "hono"
import { z } from "@svc/openapi"
import { policies } from "../auth/agent-policy.ts"
import type { AppEnv } from "../auth/guard.ts"
import type { Orm } from "../db/database.ts"
import { orm } from "../db/drizzle.ts"
import { builds, deployments, runs, runSteps, specVersions } from "../db/records-schema.ts"
import { errors } from "../errors.ts"
import { shareRecord } from "../records/sharing.ts"
import { addVersion, prepareVersion, type PreparedVersion } from "../records/spec-versions.ts"
import { branchFits, branchPattern, stackNameOf, streamUrlOf } from "../records/stack-names.ts"
import { checkFree, freeNames, lineOf } from "../registry/publication.ts"
import type { Dependencies } from "../dependencies.ts"
import { endBuild } from "../work/build.ts"
import { moveDeployment, moveRun, runStepNames } from "../work/events.ts"
import { addJob, wakeJob } from "../work/jobs.ts"
import { servedBefore, type SpecRow } from "../work/records.ts"
import { cancelRun } from "../work/run.ts"
import { change, type Change } from "./change.ts"
import { type Api, endpoint } from "./endpoint.ts"
import { checkedAst, readLargeBody } from "./large-body.ts"
import { recordId } from "./owned.ts"
import { bind, rowsOf } from "../db/bind.ts"
import type { Row } from "./record.ts"
import { presentRun, runsSql, runWithSteps } from "./runs.ts"
import { ownSpec, prose } from "./spec-changes.ts"

const { and, desc, eq, isNull, sql } = orm

const id = z.int().positive().max(2_147_483_647)
const branch = z
  .string()
  .regex(branchPattern, "must be 1 to 31 lower-case letters, digits and dashes, not a dash first")
  .nullish()

const newBuild = z.object({
  spec_id: id,
  spec_version_id: id.nullish(),
  branch,
  allow_breaking: z.boolean().default(false),
})
const newRun = newBuild.extend({
  workflow: z.literal("publish", "must be publish"),
  ast_payload: z.unknown().optional().meta({ type: "object" }),
  approval: z.boolean().default(false),
})
const stopBody = z.object({ reason: prose(1024).optional() })
const rollbackBody = z.object({ to_version: id.optional() })
const nothing = z.object({})

const buildStarted = z.object({ build_id: z.int(), status: z.string(), message: z.string() })
const operated = z.object({
  message: z.string(),
  deployment_id: z.int(),
  status: z.string(),
  build_id: z.int().optional(),
})

const bodyCodes = ["invalid-json", "invalid-request", "payload-too-large", "unsupported-media-type"] as const
const changeCodes = [...bodyCodes, "idempotency-key-reused", "outcome-unknown"] as const
/** Besides, of what takes a version of a spec to readers. */
const deployCodes = [
  "spec-not-found",
  "version-not-found",
  "stack-name-taken",
  "websocket-url-taken",
  "limit-reached",
] as const

/** The version that is asked for, or the latest. Throws version-not-found. */
const versionIdOf = async (tx: Orm, specId: number, wanted: number | null | undefined): Promise<number> => {
  const ofSpec = eq(specVersions.specId, specId)
  const [row] = await tx
    .select({ id: specVersions.id })
    .from(specVersions)
    .where(wanted == null ? ofSpec : and(ofSpec, eq(specVersions.id, wanted)))
    .orderBy(desc(specVersions.versionNumber))
    .limit(1)
  if (row === undefined) throw errors.fail("version-not-found")
  return row.id
}

const checkBranch = (spec: SpecRow, given: string | null | undefined): string | null => {
  if (given == null) return null
  if (branchFits(spec.name, given)) return given
  const reason = "is too long beside the spec's name: 61 characters together at most"
  throw errors.fail("invalid-request", { details: { path: "branch", reason } })
}

export const recordChangeRoutes = (api: Api, dependencies: Dependencies): void => {
  const { config } = dependencies
  const common = { tag: "records", access: policies.people, method: "post" } as const

  /** What is taken already can be told at once; it is looked at again when the build gets there. */
  const firstLook = async (tx: Orm, spec: SpecRow, onBranch: string | null, at: Date): Promise<void> => {
    const websocketUrl = streamUrlOf(spec, onBranch, config.streamUrlTemplate)
    const name = stackNameOf(spec.name, onBranch)
    const holder = { ownerId: spec.ownerId, specId: spec.id, branch: onBranch }
    await checkFree(tx, { name, websocketUrl: websocketUrl ?? "" }, holder, at)
  }

  const addBuild = async (
    tx: Orm,
    spec: SpecRow,
    build: { specVersionId: number; branch: string | null; allowBreaking: boolean },
    at: Date,
  ) => {
    const [waiting] = await rowsOf<{ n: number }>(
      tx,
      bind("select count(*)::integer as n from jobs where kind = 'build' and owner_id = $1", [spec.ownerId]),
    )
    const limit = config.perOwner.waitingBuilds
    if ((waiting?.n ?? 0) >= limit) {
      throw errors.fail("limit-reached", {
        message: `${limit} of your builds are waiting, as many as SVC_WAITING_BUILDS_PER_OWNER allows.`,
      })
    }
    const row = { ownerId: spec.ownerId, specId: spec.id, status: "pending", createdAt: at, ...build }
    const [made] = await tx.insert(builds).values(row).returning({ id: builds.id })
    if (made === undefined) throw new Error("the build was not stored")
    await shareRecord(tx, "build_shares", spec.id, made.id)
    await addJob(tx, "build", made.id, spec.ownerId, spec.id)
    return made.id
  }

  endpoint(
    api,
    dependencies,
    {
      ...common,
      path: "/api/builds",
      id: "startBuild",
      summary: "Build a version of a spec and deploy it",
      largeBody: newBuild,
      success: [202, "Taken", buildStarted],
      codes: [...changeCodes, ...deployCodes],
    },
    async (c) => {
      const { given, text } = await readLargeBody(c, newBuild)
      return change(dependencies, c, text, async ({ tx, at, userId, tell }) => {
        const spec = await ownSpec(tx, userId, given.spec_id)
        const onBranch = checkBranch(spec, given.branch)
        const specVersionId = await versionIdOf(tx, spec.id, given.spec_version_id)
        await firstLook(tx, spec, onBranch, at)
        const build = { specVersionId, branch: onBranch, allowBreaking: given.allow_breaking }
        const buildId = await addBuild(tx, spec, build, at)
        await tell("build.create", `build:${buildId}`)
        const body = { build_id: buildId, status: "pending", message: `Follow it: GET /api/builds/${buildId}` }
        return { status: 202, body: JSON.stringify(body), location: `/api/builds/${buildId}` }
      })
    },
  )

  endpoint(
    api,
    dependencies,
    {
      ...common,
      path: "/api/builds/{id}/cancel",
      id: "cancelBuild",
      summary: "Cancel a build that is not over; the registry stays as it is",
      largeBody: nothing,
      success: [202, "Cancelled", buildStarted],
      codes: [...changeCodes, "build-not-found", "build-state"],
    },
    async (c) => {
      const buildId = recordId(c, "build-not-found")
      const { text } = await readLargeBody(c, nothing)
      return change(dependencies, c, text, async ({ tx, at, userId, tell }) => {
        const own = and(eq(builds.id, buildId), eq(builds.ownerId, userId))
        const [build] = await tx.select().from(builds).where(own).for("no key update")
        if (build === undefined) throw errors.fail("build-not-found")
        if (["completed", "failed", "cancelled"].includes(build.status)) {
          throw errors.fail("build-state", { message: `The build is ${build.status}: it can't be cancelled any more.` })
        }
        await endBuild(tx, build, "cancelled", "cancelled by its owner", at)
        await tell("build.cancel", `build:${buildId}`)
        return { status: 202, body: JSON.stringify({ build_id: buildId, status: "cancelled", message: "Cancelled." }) }
      })
    },
  )

  const ownDeployment = async (c: Context<AppEnv>, { tx, userId }: Change) => {
    const own = and(
      eq(deployments.id, recordId(c, "deployment-not-found")),
      eq(deployments.ownerId, userId),
      isNull(deployments.deletedAt),
    )
    const [row] = await tx.select().from(deployments).where(own).for("no key update")
    if (row === undefined) throw errors.fail("deployment-not-found")
    return row
  }

  const wrongState = (what: string, status: string | null) =>
    errors.fail("deployment-state", { message: `The deployment is ${status ?? "not begun"}: it can't be ${what} now.` })

  const operation = (verb: "stop" | "restart", done: string, from: readonly string[], schema: z.ZodObject) =>
    endpoint(
      api,
      dependencies,
      {
        ...common,
        path: `/api/deployments/{id}/${verb}`,
        id: `${verb}Deployment`,
        summary:
          verb === "stop"
            ? "Take a deployment's stack out of the registry"
            : "Put it back, with the version that it had",
        largeBody: schema,
        success: [202, "Taken", operated],
        codes: [...changeCodes, "deployment-not-found", "deployment-state"],
      },
      async (c) => {
        const { given, text } = await readLargeBody(c, schema)
        return change(dependencies, c, text, async (about) => {
          const { tx, at, tell } = about
          const deployment = await ownDeployment(c, about)
          if (!from.includes(deployment.status ?? "") || deployment.operation !== null)
            throw wrongState(done, deployment.status)
          const reason = given["reason"]
          const operationId = await moveDeployment(tx, deployment.id, "updating", {
            at,
            eventType: verb,
            buildId: deployment.currentBuildId,
            actor: "user",
            message: typeof reason === "string" ? reason : null,
          })
          const settledStatus =
            deployment.status === "active" || deployment.status === "stopped" ? deployment.status : "failed"
          await tx
            .update(deployments)
            .set({ operation: verb, operationId, settledStatus })
            .where(eq(deployments.id, deployment.id))
          await addJob(tx, "deployment", deployment.id, deployment.ownerId, deployment.specId)
          await tell(`deployment.${verb}`, `deployment:${deployment.id}`)
          const body = { message: `It is being ${done}.`, deployment_id: deployment.id, status: "updating" }
          return { status: 202, body: JSON.stringify(body) }
        })
      },
    )
  operation("stop", "stopped", ["active", "failed"], stopBody)
  operation("restart", "restarted", ["stopped"], nothing)

  endpoint(
    api,
    dependencies,
    {
      ...common,
      path: "/api/deployments/{id}/rollback",
      id: "rollbackDeployment",
      summary: "Build and deploy an earlier version: the one before, unless said",
      largeBody: rollbackBody,
      success: [202, "Taken", operated],
      codes: [
        ...changeCodes,
        "deployment-not-found",
        "deployment-state",
        "version-not-found",
        "stack-name-taken",
        "websocket-url-taken",
        "limit-reached",
      ],
    },
    async (c) => {
      const { given, text } = await readLargeBody(c, rollbackBody)
      return change(dependencies, c, text, async (about) => {
        const { tx, at, userId, tell } = about
        const deployment = await ownDeployment(c, about)
        if (deployment.status !== "active" && deployment.status !== "failed")
          throw wrongState("rolled back", deployment.status)
        const spec = await ownSpec(tx, userId, deployment.specId)
        const specVersionId =
          given.to_version === undefined
            ? await versionBefore(tx, deployment.id)
            : await versionNumbered(tx, spec.id, given.to_version)
        await firstLook(tx, spec, deployment.branch, at)
        const build = { specVersionId, branch: deployment.branch, allowBreaking: true }
        const buildId = await addBuild(tx, spec, build, at)
        await tell("deployment.rollback", `deployment:${deployment.id} build:${buildId}`)
        const body = {
          message: "It is being rolled back.",
          deployment_id: deployment.id,
          status: deployment.status,
          build_id: buildId,
        }
        return { status: 202, body: JSON.stringify(body) }
      })
    },
  )

  endpoint(
    api,
    dependencies,
    {
      ...common,
      method: "delete",
      path: "/api/deployments/{id}",
      id: "deleteDeployment",
      summary: "Delete a stopped deployment; its stack's name rests before others may take it",
      success: [200, "Deleted", z.object({ id: z.int(), deleted: z.literal(true) })],
      codes: ["invalid-request", "deployment-not-found", "deployment-active", "deployment-state", "outcome-unknown"],
    },
    (c) =>
      change(dependencies, c, "", async (about) => {
        const { tx, at, tell } = about
        const deployment = await ownDeployment(c, about)
        if (deployment.status === "active") throw errors.fail("deployment-active")
        if (deployment.status !== "stopped")
          throw errors.fail("deployment-active", {
            message: `The deployment is ${deployment.status ?? "not begun"}, not stopped.`,
          })
        await tx.execute(sql`delete from deployment_shares where record_id = ${deployment.id}`)
        await tx.update(deployments).set({ deletedAt: at }).where(eq(deployments.id, deployment.id))
        await freeNames(tx, lineOf("", deployment), at)
        if (config.deployHookUrl !== undefined) {
          await addJob(tx, "notice", deployment.id, deployment.ownerId, deployment.specId)
        }
        await tell("deployment.delete", `deployment:${deployment.id}`)
        return { status: 200, body: JSON.stringify({ id: deployment.id, deleted: true }) }
      }),
  )

  const answerRun = async ({ tx, userId }: Change, runId: number): Promise<string> =>
    JSON.stringify(presentRun(await rowsOf<Row>(tx, bind(runsSql.one, [userId, runId]))))

  const addRun = async (
    tx: Orm,
    row: Omit<typeof runs.$inferInsert, "workflow" | "status" | "trigger">,
    done: ReadonlySet<string>,
  ) => {
    const [made] = await tx
      .insert(runs)
      .values({ ...row, workflow: "publish", status: "queued", trigger: "manual" })
      .returning({ id: runs.id })
    if (made === undefined) throw new Error("the run was not stored")
    const at = row.createdAt
    await tx.insert(runSteps).values(
      runStepNames.map((name, position) => {
        const step = { runId: made.id, position, name, status: "queued" }
        return done.has(name) ? Object.assign(step, { status: "succeeded", startedAt: at, completedAt: at }) : step
      }),
    )
    const specId = row.specId ?? 0
    await shareRecord(tx, "run_shares", specId, made.id)
    await addJob(tx, "run", made.id, row.ownerId, specId)
    return made.id
  }

  endpoint(
    api,
    dependencies,
    {
      ...common,
      path: "/api/automation/runs",
      id: "startRun",
      summary: "Publish: version, check, approve, build, deploy, verify",
      largeBody: newRun,
      success: [202, "Taken", runWithSteps],
      codes: [...changeCodes, ...deployCodes],
    },
    async (c) => {
      const { given, text } = await readLargeBody(c, newRun)
      if (given.ast_payload !== undefined && given.spec_version_id != null) {
        throw errors.fail("invalid-request", {
          details: { path: "spec_version_id", reason: "is given together with ast_payload" },
        })
      }
      const prepared: PreparedVersion | undefined =
        given.ast_payload === undefined ? undefined : await prepareVersion(checkedAst(given.ast_payload))
      return change(dependencies, c, text, async (about) => {
        const { tx, at, userId, tell } = about
        // The spec's lock gives its runs their order, which is that of their versions.
        const spec = await ownSpec(tx, userId, given.spec_id)
        const onBranch = checkBranch(spec, given.branch)
        await firstLook(tx, spec, onBranch, at)
        const limit = config.versionsPerSpec
        const added =
          prepared === undefined ? undefined : await addVersion(tx, spec, prepared, { message: null, limit, at })
        if (added?.isNew === true) await tell("version.create", `spec:${spec.id} version:${added.number}`)
        const row = {
          ownerId: userId,
          specId: spec.id,
          specVersionId: added?.id ?? (await versionIdOf(tx, spec.id, given.spec_version_id)),
          branch: onBranch,
          allowBreaking: given.allow_breaking,
          approval: given.approval,
          attempt: 1,
          createdAt: at,
        }
        const runId = await addRun(tx, row, new Set())
        await tell("run.create", `run:${runId}`)
        return { status: 202, body: await answerRun(about, runId), location: `/api/automation/runs/${runId}` }
      })
    },
  )

  const runChange = (
    verb: "resume" | "retry" | "cancel",
    summary: string,
    work: (run: typeof runs.$inferSelect, about: Change) => Promise<number>,
  ) =>
    endpoint(
      api,
      dependencies,
      {
        ...common,
        path: `/api/automation/runs/{id}/${verb}`,
        id: `${verb}Run`,
        summary,
        largeBody: nothing,
        success: [202, "Taken", runWithSteps],
        codes: [...changeCodes, "run-not-found", "run-state"],
      },
      async (c) => {
        const runId = recordId(c, "run-not-found")
        const { text } = await readLargeBody(c, nothing)
        return change(dependencies, c, text, async (about) => {
          const { tx, userId, tell } = about
          const own = and(eq(runs.id, runId), eq(runs.ownerId, userId))
          const [run] = await tx.select().from(runs).where(own).for("no key update")
          if (run === undefined) throw errors.fail("run-not-found")
          const result = await work(run, about)
          await tell(`run.${verb}`, `run:${result}`)
          return { status: 202, body: await answerRun(about, result), location: `/api/automation/runs/${result}` }
        })
      },
    )

  const wrongRun = (what: string, status: string) =>
    errors.fail("run-state", { message: `The run is ${status}: it can't be ${what}.` })

  runChange("resume", "Let a waiting run go on", async (run, { tx, at }) => {
    // What was only imported has nothing to go on with.
    if (run.status !== "waiting" || run.specId === null || run.specVersionId === null)
      throw wrongRun("resumed", run.status)
    await moveRun(tx, run.id, "running", at)
    await tx.update(runs).set({ approvedAt: at }).where(eq(runs.id, run.id))
    await addJob(tx, "run", run.id, run.ownerId, run.specId)
    return run.id
  })

  runChange("retry", "Try a failed or cancelled run again, from where it ended", async (run, { tx, at, userId }) => {
    const over = run.status === "failed" || run.status === "cancelled"
    if (!over || run.specId === null || run.specVersionId === null) throw wrongRun("retried", run.status)
    const [again] = await tx.select({ id: runs.id }).from(runs).where(eq(runs.retryOfId, run.id)).limit(1)
    if (again !== undefined)
      throw errors.fail("run-state", { message: `The run was retried already, by run ${again.id}.` })
    await ownSpec(tx, userId, run.specId)
    const steps = await tx.select().from(runSteps).where(eq(runSteps.runId, run.id))
    const build =
      run.buildId === null ? undefined : (await tx.select().from(builds).where(eq(builds.id, run.buildId)))[0]
    const built = build?.status === "completed"
    const done = steps.filter(
      ({ name, status }) => status === "succeeded" && (built || (name !== "build" && name !== "deploy")),
    )
    const { ownerId, specId, specVersionId, branch: onBranch, allowBreaking, approval, approvedAt } = run
    const row = {
      ownerId,
      specId,
      specVersionId,
      branch: onBranch,
      allowBreaking,
      approval,
      approvedAt,
      attempt: run.attempt + 1,
      retryOfId: run.id,
      createdAt: at,
    }
    return addRun(tx, { ...row, buildId: built ? run.buildId : null }, new Set(done.map(({ name }) => name)))
  })

  runChange(
    "cancel",
    "Cancel a run: at once where nobody has it in hand, else at its step's end",
    async (run, { tx, at }) => {
      if (run.specVersionId === null) throw wrongRun("cancelled", run.status)
      if (run.status === "queued" || run.status === "waiting") await cancelRun(tx, run, at)
      else if (run.status === "running") {
        await moveRun(tx, run.id, "cancelling", at)
        await wakeJob(tx, "run", run.id)
      } else throw wrongRun("cancelled", run.status)
      return run.id
    },
  )
}

/** The version that was deployed before the one that is. Throws deployment-state. */
const versionBefore = async (tx: Orm, deploymentId: number): Promise<number> => {
  const [current, ...before] = await servedBefore(tx, deploymentId)
  const previous = before.find(({ id: versionId }) => versionId !== current?.id)
  if (previous === undefined)
    throw errors.fail("deployment-state", { message: "No other version was deployed before: name one in to_version." })
  return previous.id
}

const versionNumbered = async (tx: Orm, specId: number, number: number): Promise<number> => {
  const wanted = and(eq(specVersions.specId, specId), eq(specVersions.versionNumber, number))
  const [row] = await tx.select({ id: specVersions.id }).from(specVersions).where(wanted)
  if (row === undefined) throw errors.fail("version-not-found")
  return row.id
}
