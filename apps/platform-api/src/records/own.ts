// Locks a record that its owner wants to change. Somebody else's record is missing, like one that doesn't exist. The
// spec is locked first, then its jobs (see `work/queue/jobs.ts`), so that there is no deadlock.
import { and, eq, isNull, type Orm } from "../db/database.ts"
import { builds, deployments, runs, specs, stackNames, stacks } from "../db/schema/index.ts"
import { type ErrorCode, errors } from "../errors.ts"
import { lockJobsOf } from "../work/queue/jobs.ts"
import type { SpecRow } from "../work/records.ts"
import { lineOfSpec, showPast, updateStack } from "../registry/publication.ts"
import { raiseRevision } from "../registry/stack-changes.ts"

export const ownSpec = async (tx: Orm, userId: number, id: number): Promise<SpecRow> => {
  const own = and(eq(specs.id, id), eq(specs.ownerId, userId), isNull(specs.deletedAt))
  const [spec] = await tx.select().from(specs).where(own).for("no key update")
  if (spec === undefined) throw errors.fail("spec-not-found")
  return spec
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
    if (seen !== undefined) {
      // The spec may be deleted.
      await tx.select({ id: specs.id }).from(specs).where(eq(specs.id, seen.specId)).for("no key update")
      await lockJobsOf(tx, seen.specId)
    }
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

// Which changes of a spec are allowed, and which take effect at once.

const ownedBy = (userId: number) => and(eq(specs.ownerId, userId), isNull(specs.deletedAt))

/** Throws limit-reached. Call it under the account's lock. */
export const checkNumber = async (tx: Orm, userId: number, limit: number): Promise<void> => {
  if ((await tx.$count(specs, ownedBy(userId))) >= limit)
    throw errors.fail("limit-reached", { message: `You have ${limit} specs, the maximum (SVC_SPECS_PER_OWNER).` })
}

/** Throws spec-name-taken. Call it under the account's lock. */
export const checkName = async (tx: Orm, userId: number, name: string): Promise<void> => {
  const same = and(ownedBy(userId), eq(specs.name, name))
  const [taken] = await tx.select({ id: specs.id }).from(specs).where(same)
  if (taken !== undefined) throw errors.fail("spec-name-taken")
}

/**
 * Throws spec-deployed: the name can't change while readers may know it. The lock keeps builds from using it meanwhile.
 */
export const checkRenamed = async (tx: Orm, specId: number): Promise<void> => {
  await lockJobsOf(tx, specId)
  const deployed = and(eq(deployments.specId, specId), isNull(deployments.deletedAt))
  const [held] = await tx.select({ id: deployments.id }).from(deployments).where(deployed).limit(1)
  if (held === undefined) return
  throw errors.fail("spec-deployed", {
    hint: "The name can't change while the spec is deployed. Delete its deployments first.",
  })
}

/**
 * Applies what takes effect at once: who can read the stack, and its deprecation.
 * @param mustAsk whether public stacks need the operator's approval
 */
export const showAtOnce = async (tx: Orm, spec: SpecRow, mustAsk: boolean): Promise<void> => {
  // First, because a build that is about to publish reads the spec under the same lock.
  await raiseRevision(tx)
  for (const stack of await tx
    .select()
    .from(stacks)
    .where(eq(stacks.line, lineOfSpec(spec.id)))) {
    const [held] = await tx.select().from(stackNames).where(eq(stackNames.name, stack.name))
    const mayBeSeen = !mustAsk || spec.visibility !== "public" || held?.approved === true
    const { deprecated } = spec
    const revision = await raiseRevision(tx)
    const { visibility } = mayBeSeen ? spec : stack
    await updateStack(tx, stack, { visibility, deprecated }, revision)
  }
  await showPast(tx, spec.id, mustAsk && spec.visibility === "public" ? undefined : spec.visibility)
}
