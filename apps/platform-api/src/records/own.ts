// Locks a record that its owner wants to change. Somebody else's record is missing, like one that doesn't exist. The
// spec is locked first, then its jobs (see `work/queue/jobs.ts`), so that there is no deadlock.
import { and, eq, isNull, type Orm } from "../db/database.ts"
import { builds, deployments, runs, specs } from "../db/schema/index.ts"
import { type ErrorCode, errors } from "../errors.ts"
import { lockJobsOf } from "../work/queue/jobs.ts"
import type { SpecRow } from "../work/records.ts"

export const ownSpec = async (tx: Orm, userId: number, id: number): Promise<SpecRow> => {
  const own = and(eq(specs.id, id), eq(specs.ownerId, userId), isNull(specs.deletedAt))
  const [spec] = await tx.select().from(specs).where(own).for("no key update")
  if (spec === undefined) throw errors.fail("spec-not-found")
  return spec
}

/** Locks the spec, even a deleted one, and its jobs. */
const hold = async (tx: Orm, specId: number | null | undefined): Promise<void> => {
  if (specId == null) return
  await tx.select({ id: specs.id }).from(specs).where(eq(specs.id, specId)).for("no key update")
  await lockJobsOf(tx, specId)
}

const ownRecord =
  <T extends typeof builds | typeof deployments | typeof runs>(table: T, missing: ErrorCode) =>
  async (tx: Orm, userId: number, id: number): Promise<T["$inferSelect"]> => {
    const isAlive = "deletedAt" in table ? isNull(table.deletedAt) : undefined
    const own = and(eq(table.id, id), eq(table.ownerId, userId), isAlive)
    const [seen] = await tx
      .select({ specId: table.specId })
      .from(table as typeof builds)
      .where(own)
    await hold(tx, seen?.specId)
    const [row] = await tx
      .select()
      .from(table as typeof builds)
      .where(own)
      .for("no key update")
    if (row === undefined) throw errors.fail(missing)
    return row
  }

export const ownBuild = ownRecord(builds, "build-not-found")
export const ownDeployment = ownRecord(deployments, "deployment-not-found")
export const ownRun = ownRecord(runs, "run-not-found")
