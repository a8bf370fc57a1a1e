// Takes a build from a version to the registry. Each step is one transaction and can be repeated safely.
import { audit } from "../../audit.ts"
import type { Orm } from "../../db/database.ts"
import { eq } from "../../db/drizzle.ts"
import { builds, deployments } from "../../db/schema/index.ts"
import { shareRecord } from "../../records/sharing.ts"
import { ofVersion } from "../../records/spec-versions.ts"
import { branchFits, stackNameOf, stackNamePattern, streamUrlOf } from "../../records/stack-names.ts"
import { checkFree } from "../../registry/publication.ts"
import { sizeOf, type StackHead } from "../../registry/stack-bytes.ts"
import { atRest, endBuild } from "../endings.ts"
import { moveBuild, moveDeployment } from "../events.ts"
import { dropJob, isInHand, type Job, restJob, wakeJob } from "../queue/jobs.ts"
import { createNeeds, WorkFailure } from "../queue/step-errors.ts"
import type { Handlers, InStep } from "../queue/worker.ts"
import {
  type BuildRow,
  deploymentOf,
  type DeploymentRow,
  lockBuild,
  readSpec,
  readVersion,
  theRow,
} from "../records.ts"
import type { SpecRow, VersionRow } from "../records.ts"
import { announce, busyMs, callData } from "./announce.ts"
import type { WorkContext } from "./context.ts"
import { holdName, isApproved, prepare, publishVersion, read, visibilityOf } from "./publish-version.ts"
import type { ServedDiff } from "./served-diff.ts"

/** The stack that a build publishes. Throws WorkFailure. */
const stackOf = (spec: SpecRow, branch: string | null, { config }: WorkContext): StackHead => {
  const name = stackNameOf(spec.name, branch)
  if (!stackNamePattern.test(name) || (branch !== null && !branchFits(spec.name, branch))) {
    throw new WorkFailure(
      "the spec's name can't be a stack's: rename it to at most 63 lower-case letters, digits and dashes",
    )
  }
  const websocketUrl = streamUrlOf(spec, branch, config.streamUrlTemplate)
  if (websocketUrl === undefined) {
    throw new WorkFailure(
      branch === null
        ? "the spec has no websocket_url, and the operator hasn't set SVC_STREAM_URL_TEMPLATE: set the spec's websocket_url"
        : "a branch needs SVC_STREAM_URL_TEMPLATE for its URL, which the operator hasn't set",
    )
  }
  return { name, description: spec.description, websocketUrl, visibility: visibilityOf(spec, branch) }
}

type Check = (version: VersionRow, ownerId: number) => { readonly isSame: boolean }

/** pending → uploading → queued: the AST is intact. */
const upload = async (tx: Orm, build: BuildRow, check: Check, at: Date): Promise<void> => {
  const version = await readVersion(tx, build.specVersionId)
  if (!check(version, build.ownerId).isSame) throw new WorkFailure("the version's AST changed since it was uploaded")
  if (build.status === "pending") await moveBuild(tx, build.id, "uploading", at)
  await moveBuild(tx, build.id, "queued", at)
}

/** building → pushing: types can be generated, and no reader breaks unless that is allowed. */
const compile = async (tx: Orm, build: BuildRow, check: Check, diffToDeployed: ServedDiff, at: Date): Promise<void> => {
  const version = await readVersion(tx, build.specVersionId)
  check(version, build.ownerId)
  const diff = await diffToDeployed(tx, build.specId, build.branch, version)
  if (diff?.verdict === "breaking" && !build.allowBreaking) {
    throw new WorkFailure(`breaking-change: ${diff.breaking}; build it anyway with allow_breaking`)
  }
  await moveBuild(tx, build.id, "pushing", at)
}

/** pushing → deploying: reserves the deployment. A number or null says when to try again. */
const take = async (
  tx: Orm,
  build: BuildRow,
  spec: SpecRow,
  context: WorkContext,
  at: Date,
): Promise<"again" | number | null> => {
  const stack = stackOf(spec, build.branch, context)
  await checkFree(tx, stack, build, at)
  if (!(await isApproved(tx, stack, build, context))) {
    await holdName(tx, stack.name, build)
    const statusMessage = `waits for the operator: stack approve ${stack.name}`
    if (build.statusMessage !== statusMessage) {
      await tx.update(builds).set({ statusMessage }).where(eq(builds.id, build.id))
    }
    return null
  }
  const known = await deploymentOf(tx, build.specId, build.branch)
  // Only one operation at a time changes a deployment and is announced to its stream servers.
  if (known !== undefined && (known.operation !== null || (await isInHand(tx, "notice", known.id)))) return busyMs
  const hold = {
    operation: "deploy" as const,
    operationId: build.id,
    settledStatus: settledOf(known?.status),
    stackName: stack.name,
  }
  let id = known?.id
  if (id === undefined) {
    const { ownerId, specId, branch } = build
    const row = { ownerId, specId, branch, websocketUrl: stack.websocketUrl, ...hold }
    id = theRow(await tx.insert(deployments).values(row).returning({ id: deployments.id })).id
    await shareRecord(tx, "deployment_shares", specId, id)
  } else await tx.update(deployments).set(hold).where(eq(deployments.id, id))
  await moveDeployment(tx, id, "updating", { at, eventType: "deploy", buildId: build.id, actor: "user" })
  await moveBuild(tx, build.id, "deploying", at, { statusMessage: null })
  // The run's step "build" is done, so its followers see the next step.
  if (build.runId !== null) await wakeJob(tx, "run", build.runId)
  return "again"
}

const settledOf = (status: string | null | undefined): "active" | "stopped" | "failed" =>
  status === "active" || status === "stopped" ? status : "failed"

const reservedFor = async (tx: Orm, { specId, branch }: BuildRow): Promise<DeploymentRow> => {
  const deployment = await deploymentOf(tx, specId, branch)
  if (deployment === undefined) throw new WorkFailure("the deployment was deleted")
  return deployment
}

/** deploying → completed: the registry, the deployment and the build change in one transaction. */
const deploy = async (
  tx: Orm,
  build: BuildRow,
  ready: Awaited<ReturnType<typeof prepare>>,
  context: WorkContext,
): Promise<void> => {
  const at = context.now()
  const deployment = await reservedFor(tx, build)
  await publishVersion(tx, ready, context, at)
  const { websocketUrl } = ready.stack
  const done = { websocketUrl, currentBuildId: build.id, ...atRest }
  await tx.update(deployments).set(done).where(eq(deployments.id, deployment.id))
  await moveDeployment(tx, deployment.id, "active", { at, eventType: "deployed", buildId: build.id, actor: "system" })
  await moveBuild(tx, build.id, "completed", at, { websocketUrl })
  const target = `deployment:${deployment.id}`
  await audit(tx, { at, actor: `user:${build.ownerId}`, action: "deployment.deploy", target })
  await dropJob(tx, "build", build.id)
  if (build.runId !== null) await wakeJob(tx, "run", build.runId)
}

export const buildHandler = (context: WorkContext, diffToDeployed: ServedDiff): Handlers["build"] => {
  const { compiler, now } = context
  const need = createNeeds<{ readonly isSame: boolean }>()
  const check: Check = (version, ownerId) =>
    need(`${version.id}`, () => {
      const ast = ofVersion(version)
      return compiler.run("check", { ast, hash: version.contentHash }, { size: sizeOf(ast), owner: `job:${ownerId}` })
    })

  const finish = async (job: Job, inStep: InStep): Promise<"rest"> => {
    const { given, data } = await inStep(async (tx) => {
      const build = await lockBuild(tx, job.id)
      const stack = stackOf(await readSpec(tx, build.specId), build.branch, context)
      const version = await readVersion(tx, build.specVersionId)
      const deployment = { ...(await reservedFor(tx, build)), stackName: stack.name, websocketUrl: stack.websocketUrl }
      return { given: await read(tx, stack, version, build), data: callData(context, deployment, version) }
    })
    const call = { id: `msg_build_${job.id}`, type: "deployment.deploy", data } as const
    // The stream servers are outside the database, so this comes before the last transaction.
    if (!(await announce(context, job, inStep, call))) return "rest"
    const ready = await prepare(context, given)
    await inStep(async (tx) => {
      const build = await lockBuild(tx, job.id)
      if (build.status === "deploying") await deploy(tx, build, ready, context)
    })
    return "rest"
  }

  const step = async (job: Job, inStep: InStep): Promise<"again" | "rest"> => {
    const next = await inStep(async (tx): Promise<"again" | "deploying" | "rest"> => {
      const build = await lockBuild(tx, job.id)
      const spec = await readSpec(tx, build.specId)
      const at = now()
      switch (build.status) {
        case "pending":
        case "uploading":
          await upload(tx, build, check, at)
          // Released: the next claim decides whose build is next.
          return "rest"
        case "queued":
          await moveBuild(tx, build.id, "building", at)
          return "again"
        case "building":
          await compile(tx, build, check, diffToDeployed, at)
          return "again"
        case "pushing": {
          const taken = await take(tx, build, spec, context, at)
          if (taken === "again") return "again"
          await restJob(tx, job, taken)
          return "rest"
        }
        case "deploying":
          return "deploying"
        default:
          await dropJob(tx, "build", build.id)
          return "rest"
      }
    })
    return next === "deploying" ? finish(job, inStep) : next
  }

  return {
    step,
    fail: (job, inStep, message) =>
      inStep(async (tx) => endBuild(tx, await lockBuild(tx, job.id), "failed", message, now())),
  }
}
