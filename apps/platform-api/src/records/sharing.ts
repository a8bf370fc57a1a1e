import { and, asc, eq, inArray, orm, type Orm, sql } from "../db/database.ts"
import { agentProfiles, specShares, users } from "../db/schema/index.ts"
import { wrongField } from "../errors.ts"
import { kinds } from "./visible.ts"

const accountsIn = (rows: readonly { readonly userId: number }[]) => rows.map(({ userId }) => userId)

const ofSpecs = [kinds.builds, kinds.deployments, kinds.runs] as const

/** The accounts of these slugs. Throws invalid-request for an unknown slug. */
const accountsOf = async (tx: Orm, slugs: readonly string[]): Promise<readonly number[]> => {
  if (slugs.length === 0) return []
  const rows = await tx
    .select({ id: agentProfiles.userId, slug: agentProfiles.slug })
    .from(agentProfiles)
    .innerJoin(users, eq(users.id, agentProfiles.userId))
    .where(inArray(agentProfiles.slug, [...slugs]))
    // An unused agent that is being pruned is either gone by now, or kept because of this share.
    .for("key share", { of: users })
  const unknown = slugs.findIndex((slug) => !rows.some((row) => row.slug === slug))
  if (unknown < 0) return rows.map(({ id }) => id)
  throw wrongField("invalid-request", `shared_with[${unknown}]`, "isn't an agent's slug")
}

/**
 * Locks the agents that a spec is shared with, and others, in one order. Call it before what is shared with them changes: all who
 * share with an agent change its counts of records. Its own changes, such as of its keys, don't wait for this lock.
 */
export const lockReaders = async (tx: Orm, specId: number, others: readonly number[] = []): Promise<void> => {
  const shared = await tx.select({ id: specShares.userId }).from(specShares).where(eq(specShares.recordId, specId))
  const ids = [...shared.map((reader) => reader.id), ...others]
  if (ids.length === 0) return
  const { userId: id } = agentProfiles
  // One parameter, so that the statement's text is always the same.
  const isReader = sql`${id} = any(${`{${ids.join(",")}}`}::integer[])`
  await tx.select({ id }).from(agentProfiles).where(isReader).orderBy(asc(id)).for("no key update")
}

/**
 * Shares a spec with exactly these agents, with all its versions, builds, deployments and runs, future ones included. Whom it is
 * shared with already costs nothing.
 */
export const shareSpec = async (tx: Orm, specId: number, slugs: readonly string[]): Promise<void> => {
  const accounts = await accountsOf(tx, slugs)
  await lockReaders(tx, specId, accounts)
  await unshareSpec(tx, specId, accounts)
  if (accounts.length === 0) return
  const { userId } = specShares
  const given = accounts.map((id) => ({ userId: id, recordId: specId }))
  const added = await tx.insert(specShares).values(given).onConflictDoNothing().returning({ userId })
  // A statement for each: with many agents and records, one for all would take longer than a statement may.
  for (const account of accountsIn(added)) {
    for (const { records, shares, isAlive } of ofSpecs) {
      const shared = tx
        .select({ userId: sql<number>`${account}::integer`.as("user_id"), recordId: records.id })
        .from(records)
        .where(and(eq(records.specId, specId), isAlive))
      await tx.insert(shares).select(shared).onConflictDoNothing()
    }
  }
}

/** Ends the sharing of a spec with all agents but those to keep. */
export const unshareSpec = async (tx: Orm, specId: number, kept: readonly number[] = []): Promise<void> => {
  await lockReaders(tx, specId)
  const { userId } = specShares
  const ends = and(eq(specShares.recordId, specId), orm.notInArray(userId, [...kept]))
  const ended = await tx.delete(specShares).where(ends).returning({ userId })
  for (const { records, shares, isAlive } of ofSpecs) {
    const ofSpec = tx
      .select({ id: records.id })
      .from(records)
      .where(and(eq(records.specId, specId), isAlive))
    await tx.delete(shares).where(and(inArray(shares.userId, accountsIn(ended)), inArray(shares.recordId, ofSpec)))
  }
}

/** Shares a new record with everybody who can read its spec. Call `lockReaders` before the record is added. */
export const shareRecord = (tx: Orm, shares: (typeof ofSpecs)[number]["shares"], specId: number, id: number) =>
  tx.insert(shares).select(
    tx
      .select({ userId: specShares.userId, recordId: sql<number>`${id}::integer`.as("record_id") })
      .from(specShares)
      .where(eq(specShares.recordId, specId)),
  )
