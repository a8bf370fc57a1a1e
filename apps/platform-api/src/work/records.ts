// What steps read. Records that are about to change are locked.
import { rowsOf } from "../db/statements.ts"
import type { Orm } from "../db/database.ts"
import { and, asc, desc, eq, isNotNull, isNull, max, sql } from "../db/drizzle.ts"
import { builds, deploymentEvents, deployments, runs, specs, specVersions } from "../db/schema/index.ts"

export type SpecRow = typeof specs.$inferSelect
export type BuildRow = typeof builds.$inferSelect
export type DeploymentRow = typeof deployments.$inferSelect
export type RunRow = typeof runs.$inferSelect
export type VersionRow = typeof specVersions.$inferSelect

const there = <Row>(row: Row | undefined): Row => {
  if (row === undefined) throw new Error("a record that is referred to is not there")
  return row
}

export const lockBuild = async (tx: Orm, id: number): Promise<BuildRow> =>
  there((await tx.select().from(builds).where(eq(builds.id, id)).for("no key update"))[0])

export const readBuild = async (tx: Orm, id: number | null): Promise<BuildRow> =>
  there(id === null ? undefined : (await tx.select().from(builds).where(eq(builds.id, id)))[0])

export const lockDeployment = async (tx: Orm, id: number): Promise<DeploymentRow> =>
  there((await tx.select().from(deployments).where(eq(deployments.id, id)).for("no key update"))[0])

/** Doesn't wait: undefined while somebody else changes it. Includes deleted ones. */
export const freeDeployment = async (tx: Orm, id: number): Promise<DeploymentRow | undefined> =>
  (await tx.select().from(deployments).where(eq(deployments.id, id)).for("no key update", { skipLocked: true }))[0]

export const lastEventOf = async (tx: Orm, id: number): Promise<number> => {
  const ofDeployment = eq(deploymentEvents.deploymentId, id)
  const [last] = await tx
    .select({ id: max(deploymentEvents.id) })
    .from(deploymentEvents)
    .where(ofDeployment)
  return last?.id ?? 0
}

export const lockRun = async (tx: Orm, id: number): Promise<RunRow> =>
  there((await tx.select().from(runs).where(eq(runs.id, id)).for("no key update"))[0])

export const readSpec = async (tx: Orm, id: number): Promise<SpecRow> =>
  there((await tx.select().from(specs).where(eq(specs.id, id)))[0])

export const readVersion = async (tx: Orm, id: number | null): Promise<VersionRow> =>
  there(id === null ? undefined : (await tx.select().from(specVersions).where(eq(specVersions.id, id)))[0])

const onBranch = (branch: string | null) =>
  branch === null ? isNull(deployments.branch) : eq(deployments.branch, branch)

/** The deployment of a spec's branch. An imported one counts only if there is no other. */
export const deploymentOf = async (
  tx: Orm,
  specId: number,
  branch: string | null,
): Promise<DeploymentRow | undefined> => {
  const [row] = await tx
    .select()
    .from(deployments)
    .where(and(eq(deployments.specId, specId), onBranch(branch), isNull(deployments.deletedAt)))
    .orderBy(desc(isNotNull(deployments.stackName)), asc(deployments.id))
    .limit(1)
    .for("no key update")
  return row
}

/** The version that a deployment serves, if its build has one. */
export const versionOf = async (
  tx: Orm,
  deployment: Pick<DeploymentRow, "currentBuildId">,
): Promise<VersionRow | undefined> => {
  if (deployment.currentBuildId === null) return undefined
  const [row] = await tx
    .select({ version: specVersions })
    .from(builds)
    .innerJoin(specVersions, eq(specVersions.id, builds.specVersionId))
    .where(eq(builds.id, deployment.currentBuildId))
  return row?.version
}

/** Versions that a deployment served, newest first. */
export const servedBefore = (tx: Orm, deploymentId: number): Promise<readonly { id: number; number: number }[]> =>
  rowsOf(
    tx,
    sql`select v.id, v.version_number as number from deployment_events e
      join builds b on b.id = e.build_id join spec_versions v on v.id = b.spec_version_id
      where e.deployment_id = ${deploymentId} and e.new_status = 'active' order by e.id desc`,
  )
