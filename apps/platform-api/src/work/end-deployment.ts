import type { Orm } from "../db/database.ts"
import { eq } from "../db/drizzle.ts"
import { deployments, deploymentShares, stacks } from "../db/schema/index.ts"
import { freeNames, lineOf, raiseRevision } from "../registry/publication.ts"
import { addJob, dropJob } from "./queue/jobs.ts"
import type { DeploymentRow } from "./records.ts"

/** Takes the stack that a deployment shows readers away from them. */
export const withdraw = async (tx: Orm, deployment: DeploymentRow): Promise<void> => {
  await raiseRevision(tx)
  await tx.delete(stacks).where(eq(stacks.line, lineOf("", deployment)))
}

/** Deletes a deployment that no reader sees. Its stack's name rests; stream servers hear of it afterwards. */
export const deleteDeployment = async (tx: Orm, deployment: DeploymentRow, at: Date): Promise<void> => {
  await tx.delete(deploymentShares).where(eq(deploymentShares.recordId, deployment.id))
  await tx.update(deployments).set({ deletedAt: at }).where(eq(deployments.id, deployment.id))
  await dropJob(tx, "deployment", deployment.id)
  await freeNames(tx, lineOf("", deployment), at)
  await addJob(tx, "notice", deployment.id, deployment.ownerId, deployment.specId)
}
