import { hashKey, hasTag } from "@svc/keys"
import { createMemo } from "@svc/common/memo"
import { createWaiters } from "@svc/telemetry"
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
}

/** What an outer join returns: a row, or nulls in its place. */
type Joined<Row> = Row | { readonly [Name in keyof Row]: null }

/** A key and its account, as the database has them at this moment. Timestamps as PostgreSQL writes them. */
export type FoundKey = { readonly hash: string } & RowOf<typeof ofKey> &
  Joined<RowOf<typeof ofUser>> &
  Joined<RowOf<typeof ofProfile>>

/** A key whose form and checksum are right, with its hash in hex. */
export type SentKey = { readonly text: string; readonly hash: string }

export const sentKey = (text: string): SentKey => ({ text, hash: hashKey(text).toString("hex") })

/**
 * Finds the live key; undefined when there is none. Throws DatabaseUnavailable.
 * @param isSuspect skips the look-up of a key that this service most likely never made
 */
export type FindKey = (key: SentKey, isSuspect?: boolean) => Promise<FoundKey | undefined>

// Outer joins tell a key whose account or profile is missing from a key that does not exist. The limit keeps the planner
// from joining all keys at once: with many keys it would scan whole tables.
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
 * Finds keys by their hash. One query runs at a time, and the next one finds all keys that were asked for meanwhile: a
 * busy service would otherwise spend most of its time on round trips to the database. (A data loader from a library sends
 * one batch per turn of the event loop, beside those that run: with one request per turn it never batches.) A query starts
 * after the requests that it answers arrived, so a revoked or disabled key is rejected from the next request on, on every
 * replica.
 * @param ms how long the answer to a request may take
 * @param secret the secret behind the tags of keys
 */
export const createKeyFinder = (database: Database, ms: number, secret: Uint8Array): FindKey => {
  let asked = new Set<string>()
  const waiters = createWaiters()
  let next: Promise<ReadonlyMap<string, FoundKey>> | undefined
  let underWay: Promise<unknown> = Promise.resolve()
  // Whether recent look-ups found the key. A key that was not found never comes to exist: only its minting tells its text.
  const remembered = createMemo<boolean>({ maxEntries: mostRemembered })

  const find = async (): Promise<ReadonlyMap<string, FoundKey>> => {
    const queries = database.within(ms)
    await settled(underWay, patienceMs)
    // The responses to the last query bring new requests: as long as a turn of the event loop brings more, wait for one
    // more turn.
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
