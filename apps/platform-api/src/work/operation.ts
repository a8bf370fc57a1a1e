// What is done to a deployment besides building: stopped, started again, and what stream servers are told afterwards.
import type { Orm } from "../db/database.ts"
import { orm } from "../db/drizzle.ts"
import { deployments } from "../db/records-schema.ts"
import { stackNames } from "../db/schema.ts"
import { storedAst } from "../records/spec-versions.ts"
import { deriveShape } from "../registry/derive-schema.ts"
import { announce, diffToPrevious, lineOf, putStack, raiseRevision, StackConflict } from "../registry/publication.ts"
import { makeStackBytes } from "../registry/stack-bytes.ts"
import { withdraw } from "./build.ts"
import type { WorkContext } from "./context.ts"
import { moveDeployment } from "./events.ts"
import { type HookCall, nextCallMs } from "./hook.ts"
import { dropJob, type Job, restAfterCall } from "./jobs.ts"
import { type DeploymentRow, lockDeployment, readSpec, versionOf } from "./records.ts"
import type { Handlers, InStep } from "./worker.ts"

const { eq } = orm

const settled = { operation: null, operationId: null, settledStatus: null } as const

const giveUp = async (tx: Orm, deployment: DeploymentRow, message: string, at: Date): Promise<void> => {
  await tx.update(deployments).set(settled).where(eq(deployments.id, deployment.id))
  await moveDeployment(tx, deployment.id, deployment.settledStatus ?? "failed", {
    at,
    eventType: `${deployment.operation ?? "operation"}_failed`,
    buildId: deployment.currentBuildId,
    actor: "system",
    message,
  })
  await dropJob(tx, "deployment", deployment.id)
}

const callFor = async (tx: Orm, deployment: DeploymentRow, type: HookCall["type"], context: WorkContext, at: Date) => {
  const version = await versionOf(tx, deployment)
  return {
    type,
    data: {
      deployment_id: deployment.id,
      spec_id: deployment.specId,
      name: deployment.stackName,
      branch: deployment.branch,
      version: version?.versionNumber ?? null,
      content_hash: version?.contentHash ?? null,
      websocket_url: deployment.websocketUrl,
      ast_url: version === undefined ? null : context.astUrl(version.id, at),
    },
  }
}

export const deploymentHandler = (context: WorkContext): Handlers["deployment"] => {
  const now = () => new Date(context.wallClock())

  const stop = async (tx: Orm, deployment: DeploymentRow): Promise<void> => {
    const at = now()
    await withdraw(tx, deployment)
    await announce(tx)
    await tx.update(deployments).set(settled).where(eq(deployments.id, deployment.id))
    const event = { at, eventType: "stopped", buildId: deployment.currentBuildId, actor: "system" } as const
    await moveDeployment(tx, deployment.id, "stopped", event)
    await dropJob(tx, "deployment", deployment.id)
  }

  const restart = async (deployment: DeploymentRow, inStep: InStep): Promise<void> => {
    const { spec, version, approved } = await inStep(async (tx) => {
      const [held] = await tx
        .select()
        .from(stackNames)
        .where(eq(stackNames.name, deployment.stackName ?? ""))
      return {
        spec: await readSpec(tx, deployment.specId),
        version: await versionOf(tx, deployment),
        approved: context.config.publicStacks === "people" || held?.approved === true,
      }
    })
    if (version === undefined || deployment.stackName === null) {
      return inStep((tx) => giveUp(tx, deployment, "it has no version to go back to: build one", now()))
    }
    // It may have become public while it was stopped.
    if (!approved && deployment.branch === null && spec.visibility === "public") {
      const message = `waits for the operator: stack approve ${deployment.stackName}, then restart it`
      return inStep((tx) => giveUp(tx, deployment, message, now()))
    }
    const at = now()
    const stack = {
      name: deployment.stackName,
      description: spec.description,
      websocketUrl: deployment.websocketUrl,
      visibility: deployment.branch === null ? spec.visibility : ("private" as const),
    }
    const ast = storedAst(version.astGzip)
    const bytes = await makeStackBytes(stack, ast, at)
    await inStep(async (tx) => {
      const current = await lockDeployment(tx, deployment.id)
      if (current.operation !== "restart") return
      const revision = await raiseRevision(tx)
      const diff = await diffToPrevious(tx, lineOf(stack.name, current), version.versionNumber, deriveShape(ast))
      const published = {
        ...stack,
        relay: false,
        browserSend: false,
        version: version.versionNumber,
        deprecated: spec.deprecated,
        message: version.message,
      }
      await putStack(tx, published, bytes, { revision, holder: current, diff, at })
      await tx.update(deployments).set(settled).where(eq(deployments.id, current.id))
      const event = { at, eventType: "restarted", buildId: current.currentBuildId, actor: "system" } as const
      await moveDeployment(tx, current.id, "active", event)
      await dropJob(tx, "deployment", current.id)
    })
  }

  const step = async (job: Job, inStep: InStep): Promise<"rest"> => {
    const { deployment, call } = await inStep(async (tx) => {
      const row = await lockDeployment(tx, job.id)
      const type = row.operation === "restart" ? "deployment.restart" : "deployment.stop"
      return { deployment: row, call: await callFor(tx, row, type, context, now()) }
    })
    if (deployment.operation !== "stop" && deployment.operation !== "restart") {
      await inStep((tx) => dropJob(tx, "deployment", job.id))
      return "rest"
    }
    const id = `msg_${deployment.operation}_${deployment.operationId ?? job.id}`
    if (context.hook !== undefined && !(await context.hook({ id, ...call }, now()))) {
      const rest = nextCallMs(job.attempts, job.age_ms)
      await inStep(async (tx) => {
        if (rest !== undefined) return restAfterCall(tx, job, rest)
        return giveUp(tx, await lockDeployment(tx, job.id), "deploy-hook: the stream servers did not take it", now())
      })
      return "rest"
    }
    if (deployment.operation === "stop") await inStep(async (tx) => stop(tx, await lockDeployment(tx, job.id)))
    else await restart(deployment, inStep)
    return "rest"
  }

  const fail = (job: Job, inStep: InStep, message: string): Promise<void> =>
    inStep(async (tx) => giveUp(tx, await lockDeployment(tx, job.id), message, now()))

  return {
    step: async (job, inStep) => {
      try {
        return await step(job, inStep)
      } catch (error) {
        if (!(error instanceof StackConflict)) throw error
        await fail(job, inStep, `${error.code}: ${error.message}`)
        return "rest"
      }
    },
    fail: (job, inStep) => fail(job, inStep, "internal-error: the platform failed; its log says how"),
  }
}

/** Tells the stream servers how a deployment stands now, where they may think otherwise. Nothing waits for it. */
export const noticeHandler = (context: WorkContext): Handlers["notice"] => {
  const now = () => new Date(context.wallClock())
  return {
    step: async (job, inStep) => {
      const call = await inStep(async (tx) => {
        const row = await lockDeployment(tx, job.id)
        const type = row.deletedAt === null && row.status === "active" ? "deployment.deploy" : "deployment.remove"
        return callFor(tx, row, type, context, now())
      })
      const id = `msg_notice_${job.id}_${call.type}_${String(call.data.version)}`
      const taken = context.hook === undefined || (await context.hook({ id, ...call }, now()))
      const rest = taken ? undefined : nextCallMs(job.attempts, job.age_ms)
      await inStep(async (tx) => {
        if (rest === undefined) await dropJob(tx, "notice", job.id)
        else await restAfterCall(tx, job, rest)
      })
      return "rest"
    },
    fail: async (job, inStep) => void (await inStep((tx) => dropJob(tx, "notice", job.id))),
  }
}
