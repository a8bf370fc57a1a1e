import type { Orm } from "../db/database.ts"
import { eq } from "../db/drizzle.ts"
import { deployments, deploymentShares, stacks } from "../db/schema/index.ts"
import { freeNames, lineOf, raiseRevision } from "../registry/publication.ts"
import { addJob, dropJob } from "./queue/jobs.ts"
import type { DeploymentRow } from "./records.ts"

/** Removes the stack of a deployment from the registry. */
export const withdraw = async (tx: Orm, deployment: DeploymentRow): Promise<void> => {
  await raiseRevision(tx)
  await tx.delete(stacks).where(eq(stacks.line, lineOf("", deployment)))
}

/** Deletes a stopped deployment. Its stack's name stays reserved for a while. Stream servers are told afterwards. */
export const deleteDeployment = async (tx: Orm, deployment: DeploymentRow, at: Date): Promise<void> => {
  await tx.delete(deploymentShares).where(eq(deploymentShares.recordId, deployment.id))
  await tx.update(deployments).set({ deletedAt: at }).where(eq(deployments.id, deployment.id))
  await dropJob(tx, "deployment", deployment.id)
  await freeNames(tx, lineOf("", deployment), at)
  await addJob(tx, "notice", deployment.id, deployment.ownerId, deployment.specId)
}
