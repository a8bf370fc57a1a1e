// The registry's changes for readers. A trigger on `stacks` adds the rows.
import { coalesce } from "../db/coalesce.ts"
import { registryChanges } from "../db/schema/index.ts"
import type { Database } from "../db/database.ts"
import { isoTime, type RowOf, selectList } from "../db/statements.ts"
import { type Audience, sees } from "./audience.ts"

const readMs = 1800

const columns = {
  at: registryChanges.at,
  stack: registryChanges.stack,
  kind: registryChanges.kind,
  version: registryChanges.version,
  previous_version: registryChanges.previousVersion,
  verdict: registryChanges.verdict,
  bump: registryChanges.bump,
  message: registryChanges.message,
  successor: registryChanges.successor,
}
const readers = {
  visibility: registryChanges.visibility,
  viewers: registryChanges.viewers,
  except_visibility: registryChanges.exceptVisibility,
  except_viewers: registryChanges.exceptViewers,
}

// The drivers return large integers in different forms.
const shown = `c.id::float8 as id, ${selectList("c", columns)}`

type ShownChange = RowOf<typeof columns> & { readonly id: number }

/** A change, and who can read it. */
type StoredChange = ShownChange & RowOf<typeof readers>

/** Whether a reader sees a change: they can read the stack, and something changed for them. */
const concerns = (change: StoredChange, reader: Audience): boolean =>
  sees(reader, change.visibility, (account) => change.viewers.includes(account)) &&
  (change.except_visibility === null ||
    !sees(reader, change.except_visibility, (account) => change.except_viewers.includes(account)))

// The same as `concerns`: $1 is the visibilities that the reader can see, $2 is the account or 0.
const concernsSql = `(c.visibility = any($1::text[]) or $2 = any(c.viewers)) and (c.except_visibility is null
  or not (c.except_visibility = any($1::text[]) or $2 = any(c.except_viewers)))`

const pageSql = (order: "asc" | "desc", ofStack: boolean): string => `
  select ${shown} from registry_changes c
  where c.id > $3 and c.id <= $4 and ${concernsSql}${ofStack ? " and c.stack = $6" : ""} order by c.id ${order} limit $5`

const newerSql = `
  select ${shown}, ${selectList("c", readers)} from registry_changes c
  where c.id > $1 order by c.id limit $2`

type Page = {
  /** The id of the last change that the reader knows. If undefined, the newest changes are returned. */
  readonly after: number | undefined
  readonly through?: number
  readonly stack?: string | undefined
  readonly limit: number
}

const most = Number.MAX_SAFE_INTEGER

/** One page of changes for a reader, by ascending ids. Throws DatabaseUnavailable. */
export const readChanges = async (
  database: Database,
  reader: Audience,
  { after, through = most, stack, limit }: Page,
): Promise<readonly ShownChange[]> => {
  const seen = reader === "public" ? "{public}" : "{public,global}"
  const account = typeof reader === "number" ? reader : 0
  const sql = pageSql(after === undefined ? "desc" : "asc", stack !== undefined)
  const values = [seen, account, after ?? 0, through, limit, ...(stack === undefined ? [] : [stack])]
  const rows = await database.within(readMs).query<ShownChange>(sql, values)
  return after === undefined ? rows.toReversed() : rows
}

/** Every change after this one, for any reader. Throws DatabaseUnavailable. */
const readNewer = (database: Database, after: number, limit: number): Promise<readonly StoredChange[]> =>
  database.within(readMs).query<StoredChange>(newerSql, [after, limit])

/** The id of the newest change; 0 before the first one. Throws DatabaseUnavailable. */
const newestChange = async (database: Database): Promise<number> => {
  const sql = "select coalesce(max(id), 0)::float8 as id from registry_changes where id > $1"
  const [row] = await database.within(readMs).query<{ id: number }>(sql, [0])
  return row?.id ?? 0
}

/** Deletes changes that are older than the promised time, up to `limit` rows. Returns their number. */
export const forgetChanges = async (database: Database, days: number, limit = 5000): Promise<number> => {
  const sql = `delete from registry_changes where id in (
    select id from registry_changes where at < now() - make_interval(days => $1) order by at limit $2) returning 1`
  return (await database.within(readMs).query(sql, [days, limit])).length
}

export const presentChange = (change: ShownChange) => ({
  id: change.id,
  at: isoTime(change.at),
  stack: change.stack,
  kind: change.kind,
  version: change.version,
  ...(change.previous_version === null ? {} : { previous_version: change.previous_version }),
  verdict: change.verdict,
  bump: change.bump,
  ...(change.message === null ? {} : { message: change.message }),
  ...(change.successor === null ? {} : { successor: change.successor }),
})

const rowsAtOnce = 500

type Follower = { readonly reader: Audience; readonly tell: (event: Uint8Array, change: StoredChange) => void }

const text = new TextEncoder()

export const changeEvent = (change: ReturnType<typeof presentChange>): Uint8Array =>
  text.encode(`id: ${change.id}\nevent: ${change.kind}\ndata: ${JSON.stringify(change)}\n\n`)

/** Sends changes to followers as they are committed. Throws DatabaseUnavailable. */
export const createChangeFeed = async (database: Database) => {
  const followers = new Set<Follower>()
  let position = await newestChange(database)
  let looked = position

  const read = coalesce(async () => {
    for (let full = true; full;) {
      const rows = await readNewer(database, position, rowsAtOnce)
      full = rows.length === rowsAtOnce
      for (const row of rows) {
        position = row.id
        let event: Uint8Array | undefined
        for (const { reader, tell } of followers) {
          if (concerns(row, reader)) tell((event ??= changeEvent(presentChange(row))), row)
        }
      }
    }
  })

  return {
    /** The id up to which followers have been told. */
    position: () => position,
    /** Reports every change after `position` that concerns the reader. The returned function ends that. */
    follow: (follower: Follower) => {
      followers.add(follower)
      return () => void followers.delete(follower)
    },
    /**
     * Reads new changes once for all followers. Call it with every notification.
     * @param revision the registry's, if known: nothing is read if it was handled before
     */
    poll: async (revision?: number): Promise<void> => {
      if (revision !== undefined && revision <= looked) return
      await read()
      looked = Math.max(looked, revision ?? 0, position)
    },
  }
}

export type ChangeFeed = Awaited<ReturnType<typeof createChangeFeed>>
