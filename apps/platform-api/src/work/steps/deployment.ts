// Stops and restarts deployments.
import type { Orm } from "../../db/database.ts"
import { eq } from "../../db/drizzle.ts"
import { deployments } from "../../db/schema/index.ts"
import type { WorkContext } from "./context.ts"
import { atRest, settle } from "../end-build.ts"
import { withdraw } from "../end-deployment.ts"
import { moveDeployment } from "../events.ts"
import { failingJobs, WorkFailure } from "./failure.ts"
import { nextCallMs } from "./hook.ts"
import { dropJob, isInHand, type Job, restAfterCall, restJob } from "../queue/jobs.ts"
import { callFor } from "./notice.ts"
import { type DeploymentRow, lockDeployment, readSpec, versionOf } from "../records.ts"
import { prepare, read, publishVersion, visibilityOf } from "./publish-version.ts"
import type { Handlers, InStep } from "../queue/worker.ts"

const busyMs = 300

export const deploymentHandler = (context: WorkContext): Handlers["deployment"] => {
  const now = () => new Date(context.wallClock())

  const fail = (job: Job, inStep: InStep, message: string): Promise<void> =>
    inStep(async (tx) => {
      await settle(tx, await lockDeployment(tx, job.id), message, now())
      await dropJob(tx, "deployment", job.id)
    })

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
    const { ready: given, source } = await inStep(async (tx) => {
      const deployment = await lockDeployment(tx, job.id)
      const { stackName: name, websocketUrl, specId, branch } = deployment
      const spec = await readSpec(tx, specId)
      const served = await versionOf(tx, deployment)
      if (served === undefined || name === null) {
        throw new WorkFailure("it has no version to restart: build one")
      }
      const visibility = visibilityOf(spec, branch)
      const stack = { name, description: spec.description, websocketUrl, visibility }
      return { ready: await read(tx, stack, served, deployment), source: deployment }
    })
    const ready = await prepare(context, given, source, now())
    await inStep(async (tx) => {
      const deployment = await lockDeployment(tx, job.id)
      if (deployment.operation !== "restart") return
      await publishVersion(tx, ready, deployment, context, now())
      await done(tx, deployment, "active")
    })
  }

  const step = async (job: Job, inStep: InStep): Promise<"rest"> => {
    const seen = await inStep(async (tx) => {
      const deployment = await lockDeployment(tx, job.id)
      const { operation } = deployment
      if (operation !== "stop" && operation !== "restart") return await dropJob(tx, "deployment", job.id)
      if (await isInHand(tx, "notice", job.id)) return void (await restJob(tx, job, busyMs))
      const call = await callFor(tx, deployment, `deployment.${operation}`, context, now())
      return { operation, call: { id: `msg_${operation}_${deployment.operationId ?? job.id}`, ...call } }
    })
    if (seen === undefined) return "rest"
    if (context.hook !== undefined && !(await context.hook(seen.call, now()))) {
      const rest = nextCallMs(job.attempts, job.age_ms)
      if (rest === undefined) throw new WorkFailure("deploy-hook: the stream servers didn't accept it")
      await inStep((tx) => restAfterCall(tx, job, rest))
    } else if (seen.operation === "stop") await stop(job, inStep)
    else await restart(job, inStep)
    return "rest"
  }

  return failingJobs({ step, fail })
}
