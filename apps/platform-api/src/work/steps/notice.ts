// Tells the stream servers the current state when they may have missed it. Nothing waits for this.
import type { Orm } from "../../db/database.ts"
import { dropJob, restJob } from "../queue/jobs.ts"
import type { Handlers } from "../queue/worker.ts"
import { freeDeployment, lastEventOf } from "../records.ts"
import { announce, busyMs, currentData } from "./announce.ts"
import type { WorkContext } from "./context.ts"
import type { HookCall } from "./hook.ts"

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
