import type { Database } from "../db/database.ts"
import { isoTime } from "../db/statements.ts"
import type { Principal } from "./authenticate.ts"

export type UseTracker = ReturnType<typeof createUseTracker>

const everyMs = 60_000
const mostPending = 100_000

// In SQL, because drizzle can't update a batch from JSON. Rows are locked in the order of their ids and locked rows are
// skipped until the next time, so replicas never wait for each other. The time is compared again, because another
// replica may have written it meanwhile.
const statementFor = (table: string, id: string, column: string) => `
  update ${table} t set ${column} = v.at from (
    select t.${id}, n.at from ${table} t
    join jsonb_to_recordset($1::text::jsonb) as n (id int, at timestamptz) on n.id = t.${id}
    where t.${column} is null or t.${column} <= n.at - interval '60 seconds'
    order by t.${id} for no key update of t skip locked
  ) v where t.${id} = v.${id}`
const keysStatement = statementFor("api_keys", "id", "last_used_at")
const agentsStatement = statementFor("agent_profiles", "user_id", "last_seen_at")

// Waits for a concurrent rotation. Then either this finds the key revoked, or the rotation finds it used.
const firstUseStatement = `
  update api_keys set last_used_at = coalesce(last_used_at, $2::timestamptz) where id = $1 and revoked_at is null
  returning id`

/**
 * Records when keys and agents were last used: after the request, in batches, at most once a minute per key.
 * @param wallClock milliseconds since 1970
 */
export const createUseTracker = (database: Database, wallClock: () => number) => {
  let keys = new Map<number, number>()
  let agents = new Map<number, number>()

  const write = async (statement: string, times: ReadonlyMap<number, number>): Promise<void> => {
    if (times.size === 0) return
    const noted = [...times].map(([id, time]) => ({ id, at: new Date(time).toISOString() }))
    await database.within(5000).query(statement, [JSON.stringify(noted)])
  }

  const writeFirst = async (keyId: number, time: number): Promise<boolean> => {
    const rows = await database.within(1800).query(firstUseStatement, [keyId, new Date(time).toISOString()])
    return rows.length > 0
  }

  return {
    /**
     * Notes a use. Only a successor's first use is written before the response, because until then the key that it
     * replaces may be rotated again. Returns false if that happened. Throws DatabaseUnavailable then.
     */
    note: (principal: Principal): Promise<boolean> | true => {
      const time = wallClock()
      const stale = (at: string | null): boolean => at === null || time - Date.parse(at) >= everyMs
      if (principal.kind === "agent" && agents.size < mostPending && stale(principal.profile.last_seen_at)) {
        agents.set(principal.userId, time)
      }
      if (principal.isSuccessor && principal.lastUsedAt === null) return writeFirst(principal.keyId, time)
      const lastUsedAt = principal.lastUsedAt === null ? null : isoTime(principal.lastUsedAt)
      if (keys.size < mostPending && stale(lastUsedAt)) keys.set(principal.keyId, time)
      return true
    },
    /** Writes the noted uses. Throws DatabaseUnavailable. Lost ones are noted again with the key's next use. */
    flush: async (): Promise<void> => {
      const [usedKeys, seenAgents] = [keys, agents]
      keys = new Map()
      agents = new Map()
      await write(keysStatement, usedKeys)
      await write(agentsStatement, seenAgents)
    },
  }
}
