// Takes a build from a version to the registry. Each step is one transaction and can be repeated safely.
import { audit } from "../../audit.ts"
import { jobOwner } from "../../compiler/compiler.ts"
import { eq, type Orm, theRow } from "../../db/database.ts"
import { builds, deployments, deploymentShares } from "../../db/schema/index.ts"
import { lockReaders, shareRecord } from "../../records/sharing.ts"
import { ofVersion } from "../../records/spec-versions.ts"
import { streamUrlOf } from "../../records/stack-names.ts"
import { checkFree } from "../../registry/publication.ts"
import { sizeOf, type StackHead } from "../../registry/stack-bytes.ts"
import { atRest, endBuild } from "../endings.ts"
import { moveBuild, moveDeployment } from "../events.ts"
import { dropJob, dropNotices, hasEarlierBuild, isBeingTold, type Job, restJob, wakeRun } from "../queue/jobs.ts"
import { createNeeds, type Handlers, type InStep, type Outcome, WorkFailure } from "../queue/worker.ts"
import { type BuildRow, deploymentOf, type DeploymentRow, lockBuild, readSpec, readVersion } from "../records.ts"
import type { SpecRow } from "../records.ts"
import { announce, busyMs, callData } from "./announce.ts"
import type { WorkContext } from "./context.ts"
import { holdName, isApproved, prepare, publishVersion, read } from "./publish-version.ts"

/** The stack that a build publishes. Throws WorkFailure. */
const stackOf = (spec: SpecRow, { config }: WorkContext): StackHead => {
  const { name, description, visibility } = spec
  const websocketUrl = streamUrlOf(spec, config.streamUrlTemplate)
  if (websocketUrl !== undefined) return { name, description, websocketUrl, visibility }
  throw new WorkFailure(
    "the spec has no websocket_url, and the operator hasn't set SVC_STREAM_URL_TEMPLATE: set the spec's websocket_url",
  )
}

/** pushing → deploying: reserves the deployment. Otherwise the job rests. */
const reserve = async (tx: Orm, build: BuildRow, spec: SpecRow, context: WorkContext, job: Job): Promise<Outcome> => {
  const at = context.now()
  const stack = stackOf(spec, context)
  await checkFree(tx, stack, build, at)
  if (!(await isApproved(tx, stack, build, context)) && !(await holdName(tx, stack.name, build))) {
    const statusMessage = `waits for the operator: stack approve ${stack.name}`
    if (build.statusMessage !== statusMessage) {
      await tx.update(builds).set({ statusMessage }).where(eq(builds.id, build.id))
    }
    await restJob(tx, job, null)
    return "rest"
  }
  // It waited for the approval while this one began, and must not undo it later.
  if (await hasEarlierBuild(tx, build)) {
    await restJob(tx, job, busyMs)
    return "rest"
  }
  const known = await deploymentOf(tx, build.specId)
  // Only one operation at a time changes a deployment and is announced to its stream servers.
  const isFree =
    known === undefined
      ? await dropNotices(tx, stack.name)
      : known.operation === null && !(await isBeingTold(tx, known.id))
  if (!isFree) {
    await restJob(tx, job, busyMs)
    return "rest"
  }
  const settledStatus = (["active", "stopped"] as const).find((status) => status === known?.status) ?? "failed"
  const hold = { operation: "deploy", operationId: build.id, settledStatus, stackName: stack.name } as const
  let id = known?.id
  if (id === undefined) {
    const { ownerId, specId } = build
    const row = { ownerId, specId, websocketUrl: stack.websocketUrl, ...hold }
    await lockReaders(tx, specId)
    id = theRow(await tx.insert(deployments).values(row).returning({ id: deployments.id })).id
    await shareRecord(tx, deploymentShares, specId, id)
  } else await tx.update(deployments).set(hold).where(eq(deployments.id, id))
  await moveDeployment(tx, id, "updating", { at, eventType: "deploy", buildId: build.id, actor: "user" })
  await moveBuild(tx, build.id, "deploying", at, { statusMessage: null })
  // The run's step "build" is done, so its followers see the next step.
  await wakeRun(tx, build.runId)
  return "again"
}

const reservedFor = async (tx: Orm, { specId }: BuildRow): Promise<DeploymentRow> => {
  const deployment = await deploymentOf(tx, specId)
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
  const deployment = await reservedFor(tx, build)
  const at = await publishVersion(tx, ready, context)
  const { websocketUrl } = ready.stack
  const done = { websocketUrl, currentBuildId: build.id, ...atRest }
  await tx.update(deployments).set(done).where(eq(deployments.id, deployment.id))
  await moveDeployment(tx, deployment.id, "active", { at, eventType: "deployed", buildId: build.id, actor: "system" })
  await moveBuild(tx, build.id, "completed", at, { websocketUrl })
  const target = `deployment:${deployment.id}`
  await audit(tx, { at, actor: `user:${build.ownerId}`, action: "deployment.deploy", target })
  await dropJob(tx, "build", build.id)
  await wakeRun(tx, build.runId)
}

export const buildHandler = (context: WorkContext): Handlers["build"] => {
  const { compiler, diffToDeployed, now } = context
  const need = createNeeds<{ readonly isSame: boolean }>()

  /** The version, whose types can be generated, and whether its AST is intact. */
  const check = async (tx: Orm, { specVersionId, ownerId }: BuildRow) => {
    const version = await readVersion(tx, specVersionId)
    const ast = ofVersion(version)
    const given = { ast, hash: version.contentHash }
    const about = { size: sizeOf(ast), owner: jobOwner(ownerId) }
    return { version, ...need(`${version.id}`, () => compiler.run("check", given, about)) }
  }

  const finish = async (job: Job, inStep: InStep): Promise<"rest"> => {
    const { given, data } = await inStep(async (tx) => {
      const build = await lockBuild(tx, job.id)
      const stack = stackOf(await readSpec(tx, build.specId), context)
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

  const step = async (job: Job, inStep: InStep): Promise<Outcome> => {
    const next = await inStep(async (tx): Promise<Outcome | "deploying"> => {
      const build = await lockBuild(tx, job.id)
      const at = now()
      switch (build.status) {
        case "pending":
        case "uploading":
          if (!(await check(tx, build)).isSame) throw new WorkFailure("the version's AST changed since it was uploaded")
          if (build.status === "pending") await moveBuild(tx, build.id, "uploading", at)
          await moveBuild(tx, build.id, "queued", at)
          // Released: the next claim decides whose build is next.
          return "rest"
        case "queued":
          await moveBuild(tx, build.id, "building", at)
          return "again"
        case "building": {
          const { version } = await check(tx, build)
          const diff = await diffToDeployed(tx, build.specId, version)
          // No reader breaks unless that is allowed.
          if (diff?.verdict === "breaking" && !build.allowBreaking) {
            throw new WorkFailure(`breaking-change: ${diff.breaking}; build it anyway with allow_breaking`)
          }
          await moveBuild(tx, build.id, "pushing", at)
          return "again"
        }
        case "pushing":
          return reserve(tx, build, await readSpec(tx, build.specId), context, job)
        case "deploying":
          return "deploying"
        case "completed":
        case "failed":
        case "cancelled":
          break
      }
      await dropJob(tx, "build", build.id)
      return "rest"
    })
    return next === "deploying" ? finish(job, inStep) : next
  }

  return {
    step,
    fail: (job, inStep, message) =>
      inStep(async (tx) => endBuild(tx, await lockBuild(tx, job.id), "failed", message, now())),
  }
}
