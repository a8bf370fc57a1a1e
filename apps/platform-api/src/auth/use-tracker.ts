import { and, asc, type Database, eq, inArray, isNull, lte, or, type Orm, requestMs, sql } from "../db/database.ts"
import { agentProfiles, apiKeys } from "../db/schema/index.ts"
import type { Principal } from "./authenticate.ts"

export type UseTracker = ReturnType<typeof createUseTracker>

const everyMs = 60_000
const maxPending = 100_000

/**
 * The rows of a set of ids whose last use isn't known yet, unless another replica wrote it within a minute. They are locked
 * in the order of their ids and locked ones are skipped until the next time, so replicas never wait for each other.
 */
const due = (
  db: Orm,
  [table, id, usedAt]:
    | readonly [typeof apiKeys, typeof apiKeys.id, typeof apiKeys.lastUsedAt]
    | readonly [typeof agentProfiles, typeof agentProfiles.userId, typeof agentProfiles.lastSeenAt],
  used: ReadonlySet<number>,
  at: Date,
) => {
  // One parameter, so that the statement's text is always the same.
  const isUsed = sql`${id} = any(${`{${[...used].join(",")}}`}::integer[])`
  const isStale = or(isNull(usedAt), lte(usedAt, new Date(at.getTime() - everyMs)))
  return db
    .select({ id })
    .from(table)
    .where(and(isUsed, isStale))
    .orderBy(asc(id))
    .for("no key update", { skipLocked: true })
}

/**
 * Records when keys and agents were last used: within seconds after the request, in batches, at most once a minute per key.
 * @param wallClock milliseconds since 1970
 */
export const createUseTracker = (database: Database, wallClock: () => number) => {
  let usedKeys = new Set<number>()
  let seenAgents = new Set<number>()

  // Waits for a concurrent rotation. Then either this finds the key revoked, or the rotation finds it used.
  const writeFirst = async (keyId: number, at: Date): Promise<boolean> => {
    const rows = await database.within(requestMs).run((db) =>
      db
        .update(apiKeys)
        .set({ lastUsedAt: sql`coalesce(${apiKeys.lastUsedAt}, ${at.toISOString()}::timestamptz)` })
        .where(and(eq(apiKeys.id, keyId), isNull(apiKeys.revokedAt)))
        .returning({ id: apiKeys.id }),
    )
    return rows.length > 0
  }

  return {
    /**
     * Notes a use. Only a successor's first use is written before the response, because until then the key that it
     * replaces may be rotated again. Returns false if that happened. Throws DatabaseUnavailable then.
     */
    note: (principal: Principal): Promise<boolean> | true => {
      const time = wallClock()
      const isStale = (at: number): boolean => time - at >= everyMs
      const { keyId, userId, lastUsedAt } = principal
      const isSeen = principal.kind !== "agent" || !isStale(Date.parse(principal.profile.last_seen_at))
      if (!isSeen && seenAgents.size < maxPending) seenAgents.add(userId)
      if (principal.isSuccessor && lastUsedAt === null) return writeFirst(keyId, new Date(time))
      if (isStale(lastUsedAt?.getTime() ?? 0) && usedKeys.size < maxPending) usedKeys.add(keyId)
      return true
    },
    /** Writes the noted uses. Throws DatabaseUnavailable. Lost ones are noted again with the key's next use. */
    flush: async (): Promise<void> => {
      const [keys, agents, at] = [usedKeys, seenAgents, new Date(wallClock())]
      usedKeys = new Set()
      seenAgents = new Set()
      await database.within(5000).run(async (db) => {
        const { id, lastUsedAt } = apiKeys
        const stale = due(db, [apiKeys, id, lastUsedAt], keys, at)
        if (keys.size > 0) await db.update(apiKeys).set({ lastUsedAt: at }).where(inArray(id, stale))
        const { userId, lastSeenAt } = agentProfiles
        const unseen = due(db, [agentProfiles, userId, lastSeenAt], agents, at)
        if (agents.size > 0) await db.update(agentProfiles).set({ lastSeenAt: at }).where(inArray(userId, unseen))
      })
    },
  }
}
