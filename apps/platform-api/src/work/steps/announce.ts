// Tells the stream servers about deployments.
import type { Orm } from "../../db/database.ts"
import { type Job, restAfterCall } from "../queue/jobs.ts"
import { type InStep, WorkFailure } from "../queue/worker.ts"
import { type DeploymentRow, type VersionRow, versionOf } from "../records.ts"
import type { WorkContext } from "./context.ts"
import { type HookCall, nextCallMs } from "./hook.ts"

export const busyMs = 300

/** The data of a deploy hook call. */
export const callData = (
  { now, astUrl }: WorkContext,
  deployment: Pick<DeploymentRow, "id" | "specId" | "stackName" | "websocketUrl">,
  version: VersionRow | undefined,
): HookCall["data"] => ({
  deployment_id: deployment.id,
  spec_id: deployment.specId,
  name: deployment.stackName,
  version: version?.versionNumber ?? null,
  content_hash: version?.contentHash ?? null,
  websocket_url: deployment.websocketUrl,
  ast_url: version === undefined ? null : astUrl(version.id, now()),
})

export const currentData = async (tx: Orm, context: WorkContext, deployment: DeploymentRow) =>
  callData(context, deployment, await versionOf(tx, deployment))

/**
 * Calls the stream servers, which are outside the database. Returns whether they accepted; if not, the job rests until
 * the next try. Throws WorkFailure after the last one.
 */
export const announce = async (
  { hook, now }: WorkContext,
  job: Job,
  inStep: InStep,
  call: HookCall,
): Promise<boolean> => {
  if (hook === undefined || (await hook(call, now()))) return true
  const rest = nextCallMs(job.attempts, job.age_ms)
  if (rest === undefined) throw new WorkFailure("deploy-hook: the stream servers didn't accept it")
  await inStep((tx) => restAfterCall(tx, job, rest))
  return false
}
