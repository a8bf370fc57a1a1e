// Stops and restarts deployments.
import { eq, type Orm } from "../../db/database.ts"
import { deployments } from "../../db/schema/index.ts"
import { atRest, settle, withdraw } from "../endings.ts"
import { moveDeployment } from "../events.ts"
import { dropJob, isInHand, type Job, restJob } from "../queue/jobs.ts"
import { WorkFailure } from "../queue/step-errors.ts"
import type { Handlers, InStep } from "../queue/worker.ts"
import { type DeploymentRow, lockDeployment, readSpec, versionOf } from "../records.ts"
import { announce, busyMs, currentData } from "./announce.ts"
import type { WorkContext } from "./context.ts"
import { prepare, publishVersion, read } from "./publish-version.ts"

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
        if (operation !== "stop" && operation !== "restart") return await dropJob(tx, "deployment", job.id)
        if (await isInHand(tx, "notice", job.id)) return void (await restJob(tx, job, busyMs))
        const type = `deployment.${operation}` as const
        const data = await currentData(tx, context, deployment)
        return { operation, call: { id: `msg_${operation}_${operationId ?? job.id}`, type, data } }
      })
      if (seen === undefined || !(await announce(context, job, inStep, seen.call))) return "rest"
      await (seen.operation === "stop" ? stop : restart)(job, inStep)
      return "rest"
    },
    fail: (job, inStep, message) =>
      inStep(async (tx) => {
        await settle(tx, await lockDeployment(tx, job.id), message, now())
        await dropJob(tx, "deployment", job.id)
      }),
  }
}
