// Tells the stream servers the current state when they may have missed it. Nothing waits for this.
import type { Orm } from "../../db/database.ts"
import type { WorkContext } from "./context.ts"
import { type HookCall, nextCallMs } from "./hook.ts"
import { dropJob, restAfterCall, restJob } from "../queue/jobs.ts"
import { type DeploymentRow, freeDeployment, lastEventOf, versionOf } from "../records.ts"
import type { Handlers } from "../queue/worker.ts"

const busyMs = 300

/** The body of a deploy hook call. */
export const callFor = async (
  tx: Orm,
  deployment: DeploymentRow,
  type: HookCall["type"],
  context: WorkContext,
  at: Date,
): Promise<Omit<HookCall, "id">> => {
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

export const noticeHandler = (context: WorkContext): Handlers["notice"] => {
  const now = () => new Date(context.wallClock())

  /** The current state of the deployment; undefined during an operation, which is announced first. */
  const standing = async (tx: Orm, id: number): Promise<HookCall | undefined> => {
    const row = await freeDeployment(tx, id)
    if (row === undefined || row.operation !== null) return undefined
    const type = row.deletedAt === null && row.status === "active" ? "deployment.deploy" : "deployment.remove"
    const event = await lastEventOf(tx, id)
    return { id: `msg_notice_${id}_${event}_${type.slice(11)}`, ...(await callFor(tx, row, type, context, now())) }
  }

  return {
    step: async (job, inStep) => {
      if (context.hook === undefined) {
        await inStep((tx) => dropJob(tx, "notice", job.id))
        return "rest"
      }
      const call = await inStep(async (tx) => {
        const told = await standing(tx, job.id)
        if (told === undefined) await restJob(tx, job, busyMs)
        return told
      })
      if (call === undefined) return "rest"
      const taken = await context.hook(call, now())
      const rest = taken ? undefined : nextCallMs(job.attempts, job.age_ms)
      await inStep(async (tx) => {
        if (rest !== undefined) return restAfterCall(tx, job, rest)
        // The state may have changed meanwhile.
        const same = (await standing(tx, job.id))?.id === call.id
        await (same || !taken ? dropJob(tx, "notice", job.id) : restJob(tx, job, busyMs))
      })
      return "rest"
    },
    fail: async (job, inStep) => await inStep((tx) => dropJob(tx, "notice", job.id)),
  }
}
