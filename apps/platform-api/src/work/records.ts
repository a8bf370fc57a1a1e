// What steps read. Records that are about to change are locked.
import { and, eq, isNull, type Orm, orm, theRow } from "../db/database.ts"
import { builds, deploymentEvents, deployments, runs, specs, specVersions } from "../db/schema/index.ts"

export type SpecRow = typeof specs.$inferSelect
export type BuildRow = typeof builds.$inferSelect
export type DeploymentRow = typeof deployments.$inferSelect
export type RunRow = typeof runs.$inferSelect
export type VersionRow = typeof specVersions.$inferSelect

export const lockBuild = async (tx: Orm, id: number): Promise<BuildRow> =>
  theRow(await tx.select().from(builds).where(eq(builds.id, id)).for("no key update"))

export const readBuild = async (tx: Orm, id: number | null): Promise<BuildRow> =>
  theRow(
    await tx
      .select()
      .from(builds)
      .where(eq(builds.id, id ?? 0)),
  )

export const lockDeployment = async (tx: Orm, id: number): Promise<DeploymentRow> =>
  theRow(await tx.select().from(deployments).where(eq(deployments.id, id)).for("no key update"))

/** Doesn't wait: undefined while somebody else changes it. Includes deleted ones. */
export const freeDeployment = async (tx: Orm, id: number): Promise<DeploymentRow | undefined> =>
  (await tx.select().from(deployments).where(eq(deployments.id, id)).for("no key update", { skipLocked: true }))[0]

export const lastEventOf = async (tx: Orm, id: number): Promise<number> => {
  const { deploymentId, id: eventId } = deploymentEvents
  const [last] = await tx
    .select({ id: orm.max(eventId) })
    .from(deploymentEvents)
    .where(eq(deploymentId, id))
  return last?.id ?? 0
}

export const lockRun = async (tx: Orm, id: number): Promise<RunRow> =>
  theRow(await tx.select().from(runs).where(eq(runs.id, id)).for("no key update"))

export const readSpec = async (tx: Orm, id: number): Promise<SpecRow> =>
  theRow(await tx.select().from(specs).where(eq(specs.id, id)))

export const readVersion = async (tx: Orm, id: number): Promise<VersionRow> =>
  theRow(await tx.select().from(specVersions).where(eq(specVersions.id, id)))

export const deploymentOf = async (tx: Orm, specId: number): Promise<DeploymentRow | undefined> => {
  const ofSpec = and(eq(deployments.specId, specId), isNull(deployments.deletedAt))
  const [row] = await tx.select().from(deployments).where(ofSpec).for("no key update")
  return row
}

/** The version that a deployment serves, if its build has one. */
export const versionOf = async (
  tx: Orm,
  deployment: Pick<DeploymentRow, "currentBuildId">,
): Promise<VersionRow | undefined> => {
  const [row] = await tx
    .select({ version: specVersions })
    .from(builds)
    .innerJoin(specVersions, eq(specVersions.id, builds.specVersionId))
    .where(eq(builds.id, deployment.currentBuildId ?? 0))
  return row?.version
}

/** The version that a run of a person's spec is compared with, also while its deployment is stopped. */
export const ownDeployedVersion = async (db: Orm, ownerId: number, name: string): Promise<VersionRow | undefined> => {
  const isAlive = and(isNull(specs.deletedAt), isNull(deployments.deletedAt))
  const isOwn = and(eq(specs.ownerId, ownerId), eq(specs.name, name.toLowerCase()), isAlive)
  const [deployment] = await db
    .select({ currentBuildId: deployments.currentBuildId })
    .from(deployments)
    .innerJoin(specs, eq(specs.id, deployments.specId))
    .where(isOwn)
  return deployment && versionOf(db, deployment)
}
