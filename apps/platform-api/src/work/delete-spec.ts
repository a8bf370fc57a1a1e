import { and, eq, isNull, type Orm } from "../db/database.ts"
import { deployments, specs } from "../db/schema/index.ts"
import { errors } from "../errors.ts"
import { unshareSpec } from "../records/sharing.ts"
import { showPast } from "../registry/publication.ts"
import { deleteDeployment } from "./endings.ts"
import { lockJobsOf } from "./queue/jobs.ts"
import { endWorkOf } from "./steps/run.ts"

/**
 * Deletes a spec that the transaction has locked, with its stopped deployments. Its active builds and runs fail. Throws
 * spec-deployed.
 */
export const deleteSpec = async (tx: Orm, specId: number, at: Date): Promise<void> => {
  await lockJobsOf(tx, specId)
  await endWorkOf(tx, specId, { code: "spec-deleted", message: "the spec was deleted" }, at)
  const ofSpec = and(eq(deployments.specId, specId), isNull(deployments.deletedAt))
  const all = await tx.select().from(deployments).where(ofSpec).for("no key update")
  if (all.some(({ status }) => status === "active" || status === "updating")) throw errors.fail("spec-deployed")
  for (const deployment of all) await deleteDeployment(tx, deployment, at)
  await unshareSpec(tx, specId)
  await showPast(tx, specId, undefined)
  await tx.update(specs).set({ deletedAt: at }).where(eq(specs.id, specId))
}
