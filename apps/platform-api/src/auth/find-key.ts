import { hashKey, hasTag } from "@svc/keys"
import { createWaiters } from "@svc/telemetry"
import { LRUCache } from "lru-cache"
import type { Database } from "../db/database.ts"
import { agentProfiles, apiKeys, users } from "../db/schema/index.ts"
import { type RowOf, selectList } from "../db/statements.ts"

const ofKey = {
  id: apiKeys.id,
  user_id: apiKeys.userId,
  key_class: apiKeys.keyClass,
  origin_allowlist: apiKeys.originAllowlist,
  disabled_at: apiKeys.disabledAt,
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
  disabled_message: agentProfiles.disabledMessage,
}

/** The result of an outer join: a row, or nulls. */
type Joined<Row> = Row | { readonly [Name in keyof Row]: null }

/** A key and its account as stored now. Timestamps are as PostgreSQL writes them. */
export type FoundKey = { readonly hash: string } & RowOf<typeof ofKey> &
  Joined<RowOf<typeof ofUser>> &
  Joined<RowOf<typeof ofProfile>>

/** A key with the right form and checksum, and its hash in hex. */
export type SentKey = { readonly text: string; readonly hash: string }

export const sentKey = (text: string): SentKey => ({ text, hash: hashKey(text).toString("hex") })

/**
 * Finds the live key; undefined if there is none. Throws DatabaseUnavailable.
 * @param isSuspect skips the lookup of a key that this service most likely never made
 */
export type FindKey = (key: SentKey, isSuspect?: boolean) => Promise<FoundKey | undefined>

// Outer joins distinguish a missing account or profile from a missing key. The limit keeps the planner from joining all
// keys at once, which would scan whole tables.
const statement = `
  select encode(asked.hash, 'hex') as hash, found.* from unnest($1::text::bytea[]) asked (hash) cross join lateral (
    select ${selectList("k", ofKey)}, ${selectList("u", ofUser)}, ${selectList("p", ofProfile)}
    from api_keys k left join users u on u.id = k.user_id left join agent_profiles p on p.user_id = k.user_id
    where k.key_hash = asked.hash and k.revoked_at is null limit 1
  ) found`

// A query that takes longer than this delays no other: its connection may be dead.
const patienceMs = 50
const mostTurns = 4
const mostRemembered = 20_000

/**
 * Finds keys by their hash. One query runs at a time, and the next one looks up all keys requested meanwhile. Otherwise
 * a busy service would spend most of its time on round trips to the database. A library's data loader sends a batch per
 * event-loop turn, so with one request per turn it would never batch. A query starts after its requests arrived, so a
 * revoked or disabled key is rejected from the next request on, on every replica.
 * @param ms time limit for a lookup
 * @param secret the secret behind the tags of keys
 */
export const createKeyFinder = (database: Database, ms: number, secret: Uint8Array): FindKey => {
  let asked = new Set<string>()
  const waiters = createWaiters()
  let next: Promise<ReadonlyMap<string, FoundKey>> | undefined
  let underWay: Promise<unknown> = Promise.resolve()
  // Whether recent lookups found the key. A key that wasn't found can't exist later, because its text only comes from
  // minting.
  const remembered = new LRUCache<string, boolean>({ max: mostRemembered })

  const find = async (): Promise<ReadonlyMap<string, FoundKey>> => {
    const queries = database.within(ms)
    await settled(underWay, patienceMs)
    // The last query's responses bring new requests. Wait for one more turn while each turn brings more.
    let before = 0
    for (let turn = 0; turn < mostTurns && asked.size > before; turn++) {
      before = asked.size
      await new Promise(setImmediate)
    }
    const hashes = [...asked].map((hash) => `"\\\\x${hash}"`).join(",")
    asked = new Set()
    next = undefined
    const found = waiters.run(() => queries.query<FoundKey>(statement, [`{${hashes}}`]))
    underWay = found
    return new Map((await found).map((row) => [row.hash, row]))
  }

  return async ({ text, hash }, isSuspect = false) => {
    if (isSuspect && !(remembered.get(hash) ?? hasTag(text, secret))) return undefined
    asked.add(hash)
    waiters.add()
    next ??= find()
    const found = (await next).get(hash)
    if (remembered.get(hash) !== (found !== undefined)) remembered.set(hash, found !== undefined)
    return found
  }
}

/** Waits until work settles, but not longer than `ms`. */
const settled = (work: Promise<unknown>, ms: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    const end = () => {
      clearTimeout(timer)
      resolve()
    }
    work.then(end, end)
  })
