import { hashKey, hasTag } from "@svc/keys"
import { createWaiters } from "@svc/telemetry"
import DataLoader from "dataloader"
import { LRUCache } from "lru-cache"
import { and, type Database, eq, isNull, prepared, sql } from "../db/database.ts"
import { agentProfiles, apiKeys, users } from "../db/schema/index.ts"

// Outer joins distinguish a missing account or profile from a missing key.
const liveKeys = prepared((db) =>
  db
    .select({
      id: apiKeys.id,
      // As in SentKey.
      hash: sql<string>`encode(${apiKeys.keyHash}, 'hex')`,
      userId: apiKeys.userId,
      keyClass: apiKeys.keyClass,
      originAllowlist: apiKeys.originAllowlist,
      disabledAt: apiKeys.disabledAt,
      expiresAt: apiKeys.expiresAt,
      lastUsedAt: apiKeys.lastUsedAt,
      replacedBy: apiKeys.replacedBy,
      replaces: apiKeys.replaces,
      kind: users.kind,
      profile: agentProfiles,
    })
    .from(apiKeys)
    .leftJoin(users, eq(users.id, apiKeys.userId))
    .leftJoin(agentProfiles, eq(agentProfiles.userId, apiKeys.userId))
    .where(and(sql`${apiKeys.keyHash} = any(${sql.placeholder("hashes")}::text::bytea[])`, isNull(apiKeys.revokedAt)))
    .prepare("live_keys"),
)

/** A key and its account as stored now. */
export type FoundKey = Awaited<ReturnType<ReturnType<typeof liveKeys>["execute"]>>[number]

/** A key with the right form and checksum, and its hash in hex. */
export type SentKey = { readonly text: string; readonly hash: string }

export const sentKey = (text: string): SentKey => ({ text, hash: hashKey(text).toString("hex") })

/**
 * Finds the live key; undefined if there is none. Throws DatabaseUnavailable.
 * @param isSuspect skips the lookup of a key that this service most likely never made
 */
export type FindKey = (key: SentKey, isSuspect?: boolean) => Promise<FoundKey | undefined>

const maxRemembered = 20_000

/**
 * Finds keys by their hash. The requests of one turn of the event loop share a query, which starts after they arrived. So a
 * revoked or disabled key is rejected from the next request on, on every replica.
 * @param ms time limit for a lookup
 * @param secret the secret behind the tags of keys
 */
export const createKeyFinder = (database: Database, ms: number, secret: Uint8Array): FindKey => {
  // Whether recent lookups found the key. A key that wasn't found can't exist later, because its text only comes from
  // minting.
  const remembered = new LRUCache<string, boolean>({ max: maxRemembered })
  const waiters = createWaiters()
  const loader = new DataLoader<string, FoundKey | undefined>(
    async (asked) => {
      const hashes = `{${asked.map((hash) => `"\\\\x${hash}"`).join(",")}}`
      const rows = await waiters.run(() => database.within(ms).run((db) => liveKeys(db).execute({ hashes })))
      const found = new Map(rows.map((row) => [row.hash, row]))
      return asked.map((hash) => found.get(hash))
    },
    { cache: false, batchScheduleFn: setImmediate },
  )
  return async ({ text, hash }, isSuspect = false) => {
    if (isSuspect && !(remembered.get(hash) ?? hasTag(text, secret))) return undefined
    waiters.add()
    const found = await loader.load(hash)
    remembered.set(hash, found !== undefined)
    return found
  }
}
