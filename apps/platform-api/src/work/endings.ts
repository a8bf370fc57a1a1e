// How builds and deployments end.
import type { SQL } from "drizzle-orm"
import { and, eq, isNull, type Orm, orm } from "../db/database.ts"
import { deployments, deploymentShares, jobs, stackNames, stacks } from "../db/schema/index.ts"
import { lockReaders } from "../records/sharing.ts"
import { freeNames, lineOfSpec, removeStack } from "../registry/publication.ts"
import { raiseRevision } from "../registry/stack-changes.ts"
import { moveBuild, moveDeployment } from "./events.ts"
import { addJob, dropJob, wakeRun, wakeParked } from "./queue/jobs.ts"
import { type BuildRow, deploymentOf, type DeploymentRow } from "./records.ts"

/** No operation is in progress. */
export const atRest = { operation: null, operationId: null, settledStatus: null } as const

/** Returns a deployment to its previous status after an operation failed. */
export const settle = async (tx: Orm, deployment: DeploymentRow, message: string, at: Date): Promise<void> => {
  await tx.update(deployments).set(atRest).where(eq(deployments.id, deployment.id))
  await moveDeployment(tx, deployment.id, deployment.settledStatus ?? "failed", {
    at,
    eventType: `${deployment.operation ?? "operation"}_failed`,
    buildId: deployment.currentBuildId,
    actor: "system",
    message,
  })
  // Stream servers may have been told about the failed operation, so they are told the current state.
  await addJob(tx, "notice", deployment.id, deployment.ownerId, deployment.specId)
}

/** Releases a spec's name if it is only reserved for the operator's approval. */
export const releaseName = (tx: Orm, spec: number, condition?: SQL) => {
  const { id, specId, stackName, deletedAt } = deployments
  const ofName = and(eq(specId, spec), eq(stackName, stackNames.name), isNull(deletedAt))
  const kept = tx.select({ id }).from(deployments).where(ofName)
  const isHeld = and(eq(stackNames.line, lineOfSpec(spec)), isNull(stackNames.freedAt))
  return tx.delete(stackNames).where(and(isHeld, orm.notExists(kept), condition))
}

/** Ends an unfinished build. The registry stays as it is. */
export const endBuild = async (
  tx: Orm,
  build: BuildRow,
  status: "failed" | "cancelled",
  message: string,
  at: Date,
): Promise<void> => {
  await moveBuild(tx, build.id, status, at, { statusMessage: message })
  await dropJob(tx, "build", build.id)
  await wakeRun(tx, build.runId)
  const deployment = await deploymentOf(tx, build.specId)
  if (deployment?.operation === "deploy" && deployment.operationId === build.id) {
    await settle(tx, deployment, message, at)
  }
  // Another build of the spec may wait for the operator's approval of the same name.
  const ofSpec = and(eq(jobs.kind, "build"), eq(jobs.specId, build.specId))
  const others = tx.select({ id: jobs.recordId }).from(jobs).where(ofSpec)
  await releaseName(tx, build.specId, orm.notExists(others))
}

/** Removes the stack of a deployment from the registry. */
export const withdraw = async (tx: Orm, deployment: DeploymentRow): Promise<void> => {
  await removeStack(tx, eq(stacks.line, lineOfSpec(deployment.specId)), await raiseRevision(tx))
}

/** Deletes a stopped deployment. Its stack's name stays reserved for a while. Stream servers are told afterwards. */
export const deleteDeployment = async (tx: Orm, deployment: DeploymentRow, at: Date): Promise<void> => {
  await lockReaders(tx, deployment.specId)
  await tx.delete(deploymentShares).where(eq(deploymentShares.recordId, deployment.id))
  await tx.update(deployments).set({ deletedAt: at }).where(eq(deployments.id, deployment.id))
  await dropJob(tx, "deployment", deployment.id)
  await freeNames(tx, lineOfSpec(deployment.specId), at)
  // A build that waits for approval reserves the name again.
  await wakeParked(tx, { specId: deployment.specId })
  await addJob(tx, "notice", deployment.id, deployment.ownerId, deployment.specId)
}
