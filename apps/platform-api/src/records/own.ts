// What a person changes: a record of its own, locked. A foreign one is missing like one that is not there. The spec comes
// first and then what workers have in hand for it (see `work/jobs.ts`), so that nobody waits for one who waits.
import type { Orm } from "../db/database.ts"
import { and, eq, isNull } from "../db/drizzle.ts"
import { builds, deployments, runs, specs } from "../db/schema/index.ts"
import { errors } from "../errors.ts"
import { lockJobsOf } from "../work/queue/jobs.ts"
import type { BuildRow, DeploymentRow, RunRow, SpecRow } from "../work/records.ts"

export const ownSpec = async (tx: Orm, userId: number, id: number): Promise<SpecRow> => {
  const own = and(eq(specs.id, id), eq(specs.ownerId, userId), isNull(specs.deletedAt))
  const [spec] = await tx.select().from(specs).where(own).for("no key update")
  if (spec === undefined) throw errors.fail("spec-not-found")
  return spec
}

/** A spec's row, deleted ones' too, and its jobs. */
const hold = async (tx: Orm, specId: number | null | undefined): Promise<void> => {
  if (specId == null) return
  await tx.select({ id: specs.id }).from(specs).where(eq(specs.id, specId)).for("no key update")
  await lockJobsOf(tx, specId)
}

export const ownBuild = async (tx: Orm, userId: number, id: number): Promise<BuildRow> => {
  const own = and(eq(builds.id, id), eq(builds.ownerId, userId))
  const [seen] = await tx.select({ specId: builds.specId }).from(builds).where(own)
  await hold(tx, seen?.specId)
  const [build] = await tx.select().from(builds).where(own).for("no key update")
  if (build === undefined) throw errors.fail("build-not-found")
  return build
}

export const ownDeployment = async (tx: Orm, userId: number, id: number): Promise<DeploymentRow> => {
  const own = and(eq(deployments.id, id), eq(deployments.ownerId, userId), isNull(deployments.deletedAt))
  const [seen] = await tx.select({ specId: deployments.specId }).from(deployments).where(own)
  await hold(tx, seen?.specId)
  const [deployment] = await tx.select().from(deployments).where(own).for("no key update")
  if (deployment === undefined) throw errors.fail("deployment-not-found")
  return deployment
}

export const ownRun = async (tx: Orm, userId: number, id: number): Promise<RunRow> => {
  const own = and(eq(runs.id, id), eq(runs.ownerId, userId))
  const [seen] = await tx.select({ specId: runs.specId }).from(runs).where(own)
  await hold(tx, seen?.specId)
  const [run] = await tx.select().from(runs).where(own).for("no key update")
  if (run === undefined) throw errors.fail("run-not-found")
  return run
}
