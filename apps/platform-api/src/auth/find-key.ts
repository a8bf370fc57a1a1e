import { hashKey } from "@svc/keys"
import type { Database } from "../db/database.ts"

/** A key and whose it is, as the database has it at this moment. Timestamps as PostgreSQL writes them. */
type FoundKey = {
  readonly hash: string
  readonly id: number
  readonly user_id: number
  readonly key_class: "secret" | "publishable"
  readonly allowed_origin: string | null
  readonly disabled: boolean
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly kind: "agent" | "human" | null
  readonly slug: string | null
  readonly display_name: string
  readonly status: "active" | "disabled"
  readonly created_at: string
  readonly last_seen_at: string
}

/** The live key of this text; undefined when there is none. Throws DatabaseUnavailable. */
export type FindKey = (key: string) => Promise<FoundKey | undefined>

// Outer joins: a key whose account or profile is gone is told apart from a key that does not exist. The limit keeps the
// planner from joining all keys at once, which with many of them it would do by going through whole tables.
const statement = `
  select encode(asked.hash, 'hex') as hash, found.* from unnest($1::text::bytea[]) asked (hash) cross join lateral (
    select k.id, k.user_id, k.key_class, k.origin_allowlist[1] as allowed_origin, k.disabled_at is not null as disabled,
      k.expires_at, k.last_used_at, u.kind, p.slug, p.display_name, p.status, p.created_at, p.last_seen_at
    from api_keys k left join users u on u.id = k.user_id left join agent_profiles p on p.user_id = k.user_id
    where k.key_hash = asked.hash and k.revoked_at is null limit 1
  ) found`

/**
 * Finds keys by their hash. All that are asked for within one turn of the event loop are found by one query, because a
 * busy service would else spend most of its time on the way to the database and back. Nothing is remembered: a query is
 * made after the requests it answers have come, so a key that was revoked or disabled is dead from the next request on,
 * everywhere.
 * @param ms how long a query may take
 */
export const createKeyFinder = (database: Database, ms: number): FindKey => {
  let asked = new Set<string>()
  let turn: Promise<ReadonlyMap<string, FoundKey>> | undefined

  const find = async (): Promise<ReadonlyMap<string, FoundKey>> => {
    await new Promise(setImmediate)
    const hashes = [...asked].map((hash) => `"\\\\x${hash}"`).join(",")
    asked = new Set()
    turn = undefined
    const rows = await database.within(ms).query<FoundKey>(statement, [`{${hashes}}`])
    return new Map(rows.map((row) => [row.hash, row]))
  }

  return async (key) => {
    const hash = hashKey(key).toString("hex")
    asked.add(hash)
    turn ??= find()
    return (await turn).get(hash)
  }
}
