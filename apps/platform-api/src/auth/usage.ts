import { and, asc, type Database, desc, eq, gte, lt, type Queries, someRows } from "../db/database.ts"
import { apiKeys, keyEnd, keyUsage } from "../db/schema/index.ts"

const counted = ["requests", "refused", "sessions"] as const

/** What a key did on one day. */
type Counts = Record<(typeof counted)[number], number>

export type UsageCounter = ReturnType<typeof createUsageCounter>

// Keys that were deleted meanwhile are left out, and so are their rows. JSON, because the builder can't insert from a
// list of values that it joins.
const addSql = `
  insert into key_usage (key_id, day, ${counted.join()})
  select n.id, n.day, ${counted.map((name) => `n.${name}`).join()}
  from jsonb_to_recordset($1::text::jsonb) as n (id int, day date, ${counted.map((name) => `${name} int`).join()})
  join api_keys k on k.id = n.id order by n.id, n.day
  on conflict (key_id, day) do update set ${counted.map((name) => `${name} = key_usage.${name} + excluded.${name}`).join()}`

const maxPending = 100_000

const dayMs = 86_400_000

/** The UTC day of a time in milliseconds since 1970, some days earlier if told so: `2026-11-25`. */
export const dayOf = (time: number, daysEarlier = 0): string =>
  new Date(time - daysEarlier * dayMs).toISOString().slice(0, 10)

/**
 * Counts what keys do, in memory, and writes it in one statement: no request waits for the database. A killed process loses
 * what it has counted since the last flush.
 * @param wallClock milliseconds since 1970
 */
export const createUsageCounter = (database: Database, wallClock: () => number) => {
  let pending = new Map<string, Counts & { readonly id: number; readonly day: string }>()
  return {
    /** @param status of the response; 403 and 429 count as refused */
    count: (id: number, status: number, isSession: boolean): void => {
      const time = wallClock()
      const name = `${id} ${Math.floor(time / dayMs)}`
      let one = pending.get(name)
      if (one === undefined) {
        if (pending.size >= maxPending) return
        one = { id, day: dayOf(time), requests: 0, refused: 0, sessions: 0 }
        pending.set(name, one)
      }
      one.requests += 1
      if (status === 403 || status === 429) one.refused += 1
      if (isSession && status === 200) one.sessions += 1
    },
    /** Writes what was counted. Throws DatabaseUnavailable; then it's written the next time. */
    flush: async (): Promise<void> => {
      if (pending.size === 0) return
      const written = pending
      pending = new Map()
      try {
        await database.within(5000).query(addSql, [JSON.stringify([...written.values()])])
      } catch (error) {
        for (const [name, one] of written) {
          const own = pending.get(name)
          if (own === undefined) pending.set(name, one)
          else for (const kind of counted) own[kind] += one[kind]
        }
        throw error
      }
    },
  }
}

/** How many keys of an account its usage names: those that aren't revoked, then those revoked last. */
export const usageKeys = 1000

/** Usage of an account's keys, by UTC day, oldest first; days and keys without use are left out. */
export const readUsage = async (queries: Queries, userId: number, from: string) => {
  const rows = await queries.run((db) => {
    const { id, name, revokedAt } = apiKeys
    const ofAccount = db.select({ id, name }).from(apiKeys).where(eq(apiKeys.userId, userId))
    const own = ofAccount.orderBy(desc(revokedAt), desc(keyEnd)).limit(usageKeys).as("own")
    return db
      .select({
        date: keyUsage.day,
        id: own.id,
        name: own.name,
        requests: keyUsage.requests,
        refused: keyUsage.refused,
        sessions: keyUsage.sessions,
      })
      .from(own)
      .innerJoin(keyUsage, and(eq(keyUsage.keyId, own.id), gte(keyUsage.day, from)))
      .orderBy(asc(keyUsage.day), asc(own.id))
  })
  const days = Map.groupBy(rows, ({ date }) => date)
  return [...days].map(([date, keys]) => ({ date, keys: keys.map(({ date: _date, ...key }) => key) }))
}

/** Deletes usage that is older than so many days. */
export const forgetUsage = async (queries: Queries, days: number, at: Date): Promise<void> => {
  const isOld = lt(keyUsage.day, dayOf(at.getTime(), days))
  await queries.run((db) => db.delete(keyUsage).where(someRows(keyUsage, isOld)))
}
