// Stops and restarts deployments.
import { eq, type Orm } from "../../db/database.ts"
import { deployments } from "../../db/schema/index.ts"
import { atRest, settle, withdraw } from "../endings.ts"
import { moveDeployment } from "../events.ts"
import { dropJob, isBeingTold, type Job, restJob } from "../queue/jobs.ts"
import { type Handlers, type InStep, WorkFailure } from "../queue/worker.ts"
import { type DeploymentRow, freeDeployment, lastEventOf, lockDeployment, readSpec, versionOf } from "../records.ts"
import { announce, busyMs, currentData } from "./announce.ts"
import type { WorkContext } from "./context.ts"
import { prepare, publishVersion, read } from "./publish-version.ts"
import type { HookCall } from "./hook.ts"

export const deploymentHandler = (context: WorkContext): Handlers["deployment"] => {
  const { now } = context

  const done = async (tx: Orm, { id, currentBuildId }: DeploymentRow, status: "active" | "stopped"): Promise<void> => {
    await tx.update(deployments).set(atRest).where(eq(deployments.id, id))
    const eventType = status === "active" ? "restarted" : "stopped"
    await moveDeployment(tx, id, status, { at: now(), eventType, buildId: currentBuildId, actor: "system" })
    await dropJob(tx, "deployment", id)
  }

  const stop = (job: Job, inStep: InStep): Promise<void> =>
    inStep(async (tx) => {
      const deployment = await lockDeployment(tx, job.id)
      if (deployment.operation !== "stop") return
      await withdraw(tx, deployment)
      await done(tx, deployment, "stopped")
    })

  const restart = async (job: Job, inStep: InStep): Promise<void> => {
    const given = await inStep(async (tx) => {
      const deployment = await lockDeployment(tx, job.id)
      const { stackName: name, websocketUrl, specId } = deployment
      const { description, visibility } = await readSpec(tx, specId)
      const served = await versionOf(tx, deployment)
      if (served === undefined) throw new WorkFailure("it has no version to restart: build one")
      return read(tx, { name, description, websocketUrl, visibility }, served, deployment)
    })
    const ready = await prepare(context, given)
    await inStep(async (tx) => {
      const deployment = await lockDeployment(tx, job.id)
      if (deployment.operation !== "restart") return
      await publishVersion(tx, ready, context)
      await done(tx, deployment, "active")
    })
  }

  return {
    step: async (job, inStep) => {
      const seen = await inStep(async (tx) => {
        const deployment = await lockDeployment(tx, job.id)
        const { operation, operationId } = deployment
        if (operation === null || operation === "deploy") return await dropJob(tx, "deployment", job.id)
        if (await isBeingTold(tx, job.id)) return void (await restJob(tx, job, busyMs))
        const type = `deployment.${operation}` as const
        const data = await currentData(tx, context, deployment)
        return { operation, call: { id: `msg_${operation}_${operationId ?? job.id}`, type, data } }
      })
      if (seen === undefined || !(await announce(context, job, inStep, seen.call))) return "rest"
      await { stop, restart }[seen.operation](job, inStep)
      return "rest"
    },
    fail: (job, inStep, message) =>
      inStep(async (tx) => {
        await settle(tx, await lockDeployment(tx, job.id), message, now())
        await dropJob(tx, "deployment", job.id)
      }),
  }
}

// Tells the stream servers the current state when they may have missed it. Nothing waits for this.

export const noticeHandler = (context: WorkContext): Handlers["notice"] => {
  /** The current state of the deployment; undefined during an operation, which is announced first. */
  const standing = async (tx: Orm, id: number): Promise<HookCall | undefined> => {
    const row = await freeDeployment(tx, id)
    if (row === undefined || row.operation !== null) return undefined
    const state = row.deletedAt === null && row.status === "active" ? "deploy" : "remove"
    const event = await lastEventOf(tx, id)
    const data = await currentData(tx, context, row)
    return { id: `msg_notice_${id}_${event}_${state}`, type: `deployment.${state}`, data }
  }

  return {
    step: async (job, inStep) => {
      const drop = (tx: Orm) => dropJob(tx, "notice", job.id)
      if (context.hook === undefined) {
        await inStep(drop)
        return "rest"
      }
      const call = await inStep(async (tx) => {
        const told = await standing(tx, job.id)
        if (told === undefined) await restJob(tx, job, busyMs)
        return told
      })
      if (call === undefined || !(await announce(context, job, inStep, call))) return "rest"
      await inStep(async (tx) => {
        // The state may have changed meanwhile.
        const same = (await standing(tx, job.id))?.id === call.id
        await (same ? drop(tx) : restJob(tx, job, busyMs))
      })
      return "rest"
    },
    fail: (job, inStep) => inStep((tx) => dropJob(tx, "notice", job.id)),
  }
}
