import { hashKey } from "@svc/keys"
import { createAskers } from "@svc/telemetry"
import type { Database } from "../db/database.ts"
import { agentProfiles, apiKeys, users } from "../db/schema.ts"
import { type RowOf, selectList } from "../db/select-list.ts"

const ofKey = {
  id: apiKeys.id,
  user_id: apiKeys.userId,
  key_class: apiKeys.keyClass,
  expires_at: apiKeys.expiresAt,
  last_used_at: apiKeys.lastUsedAt,
  replaced_by: apiKeys.replacedBy,
  replaces: apiKeys.replaces,
}
const ofUser = { kind: users.kind }
const ofProfile = {
  slug: agentProfiles.slug,
  display_name: agentProfiles.displayName,
  status: agentProfiles.status,
  created_at: agentProfiles.createdAt,
  last_seen_at: agentProfiles.lastSeenAt,
}

/** What an outer join gives: a row, or nulls in its place. */
type Joined<Row> = Row | { readonly [Name in keyof Row]: null }

/** A key and whose it is, as the database has it at this moment. Timestamps as PostgreSQL writes them. */
export type FoundKey = {
  readonly hash: string
  readonly allowed_origin: string | null
  readonly disabled: boolean
} & RowOf<typeof ofKey> &
  Joined<RowOf<typeof ofUser>> &
  Joined<RowOf<typeof ofProfile>>

/** The live key of this text; undefined when there is none. Throws DatabaseUnavailable. */
export type FindKey = (key: string) => Promise<FoundKey | undefined>

// Outer joins: a key whose account or profile is gone is told apart from a key that does not exist. The limit keeps the
// planner from joining all keys at once, which with many of them it would do by going through whole tables.
const statement = `
  select encode(asked.hash, 'hex') as hash, found.* from unnest($1::text::bytea[]) asked (hash) cross join lateral (
    select ${selectList("k", ofKey)}, k.origin_allowlist[1] as allowed_origin, k.disabled_at is not null as disabled,
      ${selectList("u", ofUser)}, ${selectList("p", ofProfile)}
    from api_keys k left join users u on u.id = k.user_id left join agent_profiles p on p.user_id = k.user_id
    where k.key_hash = asked.hash and k.revoked_at is null limit 1
  ) found`

// A query that takes longer than this holds nobody up: its connection may be dead.
const patienceMs = 50
const mostTurns = 4

/**
 * Finds keys by their hash. One query is under way at a time, and all keys that are asked for meanwhile are found by the
 * next, because a busy service would else spend most of its time on the way to the database and back. A data loader from a
 * library makes a batch of every turn of the event loop, and sends it beside those under way: with a turn a request that
 * is no batch, and a connection each. Nothing is remembered: a query is made after the requests it answers have come, so a key that was revoked or disabled is dead from
 * the next request on, everywhere.
 * @param ms how long the answer to a request may take
 */
export const createKeyFinder = (database: Database, ms: number): FindKey => {
  let asked = new Set<string>()
  const askers = createAskers()
  let next: Promise<ReadonlyMap<string, FoundKey>> | undefined
  let underWay: Promise<unknown> = Promise.resolve()

  const find = async (): Promise<ReadonlyMap<string, FoundKey>> => {
    const queries = database.within(ms)
    await settled(underWay, patienceMs)
    // The answers to the last query bring new requests: as long as a turn of the event loop brings more, it is worth one
    // more turn.
    let before = 0
    for (let turn = 0; turn < mostTurns && asked.size > before; turn++) {
      before = asked.size
      await new Promise(setImmediate)
    }
    const hashes = [...asked].map((hash) => `"\\\\x${hash}"`).join(",")
    asked = new Set()
    next = undefined
    const found = askers.run(() => queries.query<FoundKey>(statement, [`{${hashes}}`]))
    underWay = found
    return new Map((await found).map((row) => [row.hash, row]))
  }

  return async (key) => {
    const hash = hashKey(key).toString("hex")
    asked.add(hash)
    askers.add()
    next ??= find()
    return (await next).get(hash)
  }
}

/** Waits for the end of some work, good or bad, but not for longer than `ms`. */
const settled = (work: Promise<unknown>, ms: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    const end = () => {
      clearTimeout(timer)
      resolve()
    }
    work.then(end, end)
  })
