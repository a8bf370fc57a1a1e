import { bind } from "../db/statements.ts"
import type { Orm } from "../db/database.ts"
import { eq, inArray } from "../db/drizzle.ts"
import { agentProfiles, specShares, users } from "../db/schema/index.ts"
import { errors } from "../errors.ts"
import { alive, sharesOf } from "./visible.ts"

const ofSpecs = ["builds", "deployments", "runs"] as const

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
  throw errors.fail("invalid-request", {
    details: { path: `shared_with[${unknown}]`, reason: "isn't an agent's slug" },
  })
}

/**
 * Shares a spec with exactly these agents, with all its versions, builds, deployments and runs, future ones included.
 */
export const shareSpec = async (tx: Orm, specId: number, slugs: readonly string[]): Promise<void> => {
  const accounts = await accountsOf(tx, slugs)
  await unshareSpec(tx, specId)
  if (accounts.length === 0) return
  await tx.insert(specShares).values(accounts.map((userId) => ({ userId, recordId: specId })))
  for (const records of ofSpecs) {
    const statement = `
      insert into ${sharesOf(records)} (user_id, record_id) select s.user_id, r.id from spec_shares s join ${records} r
      on r.spec_id = s.record_id where s.record_id = $1 ${alive(records, "r.")} on conflict do nothing`
    await tx.execute(bind(statement, [specId]))
  }
}

export const unshareSpec = async (tx: Orm, specId: number): Promise<void> => {
  await tx.delete(specShares).where(eq(specShares.recordId, specId))
  for (const records of ofSpecs) {
    const statement = `delete from ${sharesOf(records)} where record_id in (select id from ${records} where spec_id = $1)`
    await tx.execute(bind(statement, [specId]))
  }
}

/** Shares a new record with everybody who can read its spec. */
export const shareRecord = (tx: Orm, records: (typeof ofSpecs)[number], specId: number, id: number) => {
  const shared = "select user_id, $2::integer from spec_shares where record_id = $1"
  return tx.execute(bind(`insert into ${sharesOf(records)} (user_id, record_id) ${shared}`, [specId, id]))
}
