// Finds the version that a request means.
import type { Orm } from "../db/database.ts"
import { and, desc, eq } from "../db/drizzle.ts"
import { specVersions } from "../db/schema/index.ts"
import { errors } from "../errors.ts"
import { servedBefore } from "../work/records.ts"

/** The version with this id, or the latest. Throws version-not-found. */
export const versionOrLatest = async (tx: Orm, specId: number, wanted: number | null | undefined): Promise<number> => {
  const ofSpec = eq(specVersions.specId, specId)
  const [row] = await tx
    .select({ id: specVersions.id })
    .from(specVersions)
    .where(wanted == null ? ofSpec : and(ofSpec, eq(specVersions.id, wanted)))
    .orderBy(desc(specVersions.versionNumber))
    .limit(1)
  if (row === undefined) throw errors.fail("version-not-found")
  return row.id
}

/** The version with this number. Throws version-not-found. */
export const versionNumbered = async (tx: Orm, specId: number, number: number): Promise<number> => {
  const wanted = and(eq(specVersions.specId, specId), eq(specVersions.versionNumber, number))
  const [row] = await tx.select({ id: specVersions.id }).from(specVersions).where(wanted)
  if (row === undefined) throw errors.fail("version-not-found")
  return row.id
}

/** The version that was deployed before the current one. Throws deployment-state. */
export const versionBefore = async (tx: Orm, deploymentId: number): Promise<number> => {
  const [current, ...before] = await servedBefore(tx, deploymentId)
  const previous = before.find(({ id }) => id !== current?.id)
  if (previous === undefined)
    throw errors.fail("deployment-state", { message: "No other version was deployed before. Name one in to_version." })
  return previous.id
}
