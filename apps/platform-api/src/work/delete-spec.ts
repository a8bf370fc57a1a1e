import { and, eq, isNull, type Orm, orm } from "../db/database.ts"
import { builds, deployments, runs, specs } from "../db/schema/index.ts"
import { errors } from "../errors.ts"
import { unshareSpec } from "../records/sharing.ts"
import { lifeCycles } from "../records/transitions.ts"
import { showPast } from "../registry/publication.ts"
import { deleteDeployment, endBuild } from "./endings.ts"
import { lockJobsOf } from "./queue/jobs.ts"
import { failRun } from "./steps/run.ts"

const reason = "the spec was deleted"

/**
 * Deletes a spec that the transaction has locked, with its stopped deployments. Its active builds and runs fail. Throws
 * spec-deployed.
 */
export const deleteSpec = async (tx: Orm, specId: number, at: Date): Promise<void> => {
  await lockJobsOf(tx, specId)
  // First, because this returns a deployment in progress to its previous status.
  const open = and(eq(builds.specId, specId), orm.notInArray(builds.status, lifeCycles.build.ended))
  for (const build of await tx.select().from(builds).where(open).for("no key update")) {
    await endBuild(tx, build, "failed", reason, at)
  }
  const going = and(eq(runs.specId, specId), orm.notInArray(runs.status, lifeCycles.run.ended))
  for (const run of await tx.select().from(runs).where(going).for("no key update")) await failRun(tx, run, reason, at)
  const ofSpec = and(eq(deployments.specId, specId), isNull(deployments.deletedAt))
  const all = await tx.select().from(deployments).where(ofSpec).for("no key update")
  if (all.some(({ status }) => status === "active" || status === "updating")) throw errors.fail("spec-deployed")
  for (const deployment of all) await deleteDeployment(tx, deployment, at)
  await unshareSpec(tx, specId)
  await showPast(tx, specId, undefined)
  await tx.update(specs).set({ deletedAt: at }).where(eq(specs.id, specId))
}
