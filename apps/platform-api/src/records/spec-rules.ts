// What a spec may become, and what of it counts at once.
import type { Orm } from "../db/database.ts"
import { and, count, eq, isNotNull, isNull } from "../db/drizzle.ts"
import { deployments, specs, stackNames, stacks, users } from "../db/schema/index.ts"
import { errors } from "../errors.ts"
import { changeVisibility, type Deprecation, deprecation, raiseRevision, showPast } from "../registry/publication.ts"
import { lockJobsOf } from "../work/queue/jobs.ts"
import type { SpecRow } from "../work/records.ts"

const ownedBy = (userId: number) => and(eq(specs.ownerId, userId), isNull(specs.deletedAt))

/** Throws limit-reached. One person's specs are made one after another, so that their number holds. */
export const checkNumber = async (tx: Orm, userId: number, limit: number): Promise<void> => {
  await tx.select({ id: users.id }).from(users).where(eq(users.id, userId)).for("no key update")
  const [owned] = await tx.select({ number: count() }).from(specs).where(ownedBy(userId))
  if ((owned?.number ?? 0) >= limit)
    throw errors.fail("limit-reached", { message: `You have ${limit} specs, as SVC_SPECS_PER_OWNER allows.` })
}

/** Throws spec-name-taken. Names are given one after another too. */
export const checkName = async (tx: Orm, userId: number, name: string): Promise<void> => {
  await tx.select({ id: users.id }).from(users).where(eq(users.id, userId)).for("no key update")
  const same = and(ownedBy(userId), eq(specs.name, name))
  const [taken] = await tx.select({ id: specs.id }).from(specs).where(same)
  if (taken !== undefined) throw errors.fail("spec-name-taken")
}

/** Throws spec-deployed: a name stays while readers may know it. No build takes it meanwhile. */
export const checkRenamed = async (tx: Orm, specId: number): Promise<void> => {
  await lockJobsOf(tx, specId)
  const deployed = and(eq(deployments.specId, specId), isNull(deployments.deletedAt), isNotNull(deployments.stackName))
  const [held] = await tx.select({ id: deployments.id }).from(deployments).where(deployed).limit(1)
  if (held === undefined) return
  throw errors.fail("spec-deployed", { hint: "A name stays while it is deployed: delete its deployments first." })
}

/** What is kept of a deprecation; undefined changes nothing, null takes it back. */
export const deprecatedNow = (
  given: Deprecation | null | undefined,
  { deprecated }: Pick<SpecRow, "deprecated">,
  at: Date,
): string | null => (given === undefined ? deprecated : given === null ? null : deprecation(given, deprecated, at))

/**
 * What readers notice at once of a spec's change: who sees its stack, and whether they should leave it.
 * @param mustAsk whether the operator wants to be asked before a stack is public
 */
export const showAtOnce = async (tx: Orm, spec: SpecRow, mustAsk: boolean): Promise<void> => {
  // First: a build that is about to show it reads the spec behind the same lock.
  await raiseRevision(tx)
  for (const stack of await tx.select().from(stacks).where(eq(stacks.specId, spec.id))) {
    const [held] = await tx.select().from(stackNames).where(eq(stackNames.name, stack.name))
    const mayBeSeen = stack.branch === null && (!mustAsk || spec.visibility !== "public" || held?.approved === true)
    const { deprecated } = spec
    const revision = await raiseRevision(tx)
    await changeVisibility(tx, stack, mayBeSeen ? spec.visibility : stack.visibility, { revision, deprecated })
  }
  await showPast(tx, spec.id, mustAsk && spec.visibility === "public" ? undefined : spec.visibility)
}
