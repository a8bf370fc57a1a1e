import type { Database } from "../db/database.ts"
import { isoTime } from "../db/time.ts"
import type { Principal } from "./authenticate.ts"

/** Writes down when keys and agents were last used: after the request, in batches, at most once a minute a key. */
export type UseTracker = {
  readonly note: (principal: Principal) => void
  /** Writes what is noted. Throws DatabaseUnavailable: what is lost then is noted again with the key's next use. */
  readonly flush: () => Promise<void>
}

const everyMs = 60_000
const mostPending = 100_000

// Rows are taken in the order of their ids and those that someone else holds are left for the next time: no two replicas
// ever wait for each other. The time is compared again, since another replica may have written it meanwhile.
const keysStatement = `
  update api_keys k set last_used_at = v.at from (
    select k.id, n.at from api_keys k
    join jsonb_to_recordset($1::text::jsonb) as n (id int, at timestamptz) on n.id = k.id
    where k.last_used_at is null or k.last_used_at <= n.at - interval '60 seconds'
    order by k.id for no key update of k skip locked
  ) v where k.id = v.id`
const agentsStatement = `
  update agent_profiles p set last_seen_at = v.at from (
    select p.user_id, n.at from agent_profiles p
    join jsonb_to_recordset($1::text::jsonb) as n (id int, at timestamptz) on n.id = p.user_id
    where p.last_seen_at <= n.at - interval '60 seconds'
    order by p.user_id for no key update of p skip locked
  ) v where p.user_id = v.user_id`

/** @param wallClock milliseconds since 1970 */
export const createUseTracker = ({
  database,
  wallClock,
}: {
  readonly database: Database
  readonly wallClock: () => number
}): UseTracker => {
  let keys = new Map<number, number>()
  let agents = new Map<number, number>()

  const write = async (statement: string, times: ReadonlyMap<number, number>): Promise<void> => {
    if (times.size === 0) return
    const noted = [...times].map(([id, time]) => ({ id, at: new Date(time).toISOString() }))
    await database.within(5000).query(statement, [JSON.stringify(noted)])
  }

  return {
    note: (principal) => {
      const time = wallClock()
      const stale = (at: string | null): boolean => at === null || time - Date.parse(at) >= everyMs
      if (keys.size >= mostPending) return
      if (stale(principal.lastUsedAt === null ? null : isoTime(principal.lastUsedAt))) keys.set(principal.keyId, time)
      if (principal.kind === "agent" && stale(principal.profile.last_seen_at)) agents.set(principal.userId, time)
    },
    flush: async () => {
      const [usedKeys, seenAgents] = [keys, agents]
      keys = new Map()
      agents = new Map()
      await write(keysStatement, usedKeys)
      await write(agentsStatement, seenAgents)
    },
  }
}
