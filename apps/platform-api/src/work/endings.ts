// How builds and deployments end.
import { and, eq, isNull, type Orm, orm } from "../db/database.ts"
import { deployments, deploymentShares, stackNames, stacks } from "../db/schema/index.ts"
import { freeNames, lineOfSpec, removeStack } from "../registry/publication.ts"
import { raiseRevision } from "../registry/stack-changes.ts"
import { moveBuild, moveDeployment } from "./events.ts"
import { addJob, dropJob, wakeJob } from "./queue/jobs.ts"
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
  if (build.runId !== null) await wakeJob(tx, "run", build.runId)
  const deployment = await deploymentOf(tx, build.specId)
  if (deployment?.operation === "deploy" && deployment.operationId === build.id) {
    await settle(tx, deployment, message, at)
  }
  // Releases a name that was only reserved for the operator's approval.
  const { id, specId, stackName, deletedAt } = deployments
  const ofName = and(eq(specId, build.specId), eq(stackName, stackNames.name), isNull(deletedAt))
  const kept = tx.select({ id }).from(deployments).where(ofName)
  await tx
    .delete(stackNames)
    .where(and(eq(stackNames.line, lineOfSpec(build.specId)), isNull(stackNames.freedAt), orm.notExists(kept)))
}

/** Removes the stack of a deployment from the registry. */
export const withdraw = async (tx: Orm, deployment: DeploymentRow): Promise<void> => {
  await removeStack(tx, eq(stacks.line, lineOfSpec(deployment.specId)), await raiseRevision(tx))
}

/** Deletes a stopped deployment. Its stack's name stays reserved for a while. Stream servers are told afterwards. */
export const deleteDeployment = async (tx: Orm, deployment: DeploymentRow, at: Date): Promise<void> => {
  await tx.delete(deploymentShares).where(eq(deploymentShares.recordId, deployment.id))
  await tx.update(deployments).set({ deletedAt: at }).where(eq(deployments.id, deployment.id))
  await dropJob(tx, "deployment", deployment.id)
  await freeNames(tx, lineOfSpec(deployment.specId), at)
  await addJob(tx, "notice", deployment.id, deployment.ownerId, deployment.specId)
}
