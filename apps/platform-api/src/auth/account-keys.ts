import { audit, type AuditEntry } from "../audit.ts"
import type { Orm, Queries } from "../db/database.ts"
import { orm } from "../db/drizzle.ts"
import { apiKeys } from "../db/schema.ts"
import { errors } from "../errors.ts"
import { insertKey, lockUser } from "./accounts.ts"
import type { Principal } from "./authenticate.ts"

const { and, asc, count, eq, gt, isNull, or, sql } = orm

const mostLiveKeys = 25

/** A change of an account's keys: by whom, when, and what the audit trail says of the request. */
export type KeyChange = {
  readonly principal: Principal
  readonly at: Date
  readonly address: string
  readonly requestId: string
}

export type StoredKey = typeof apiKeys.$inferSelect

const live = (userId: number, at: Date) =>
  and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, at)))

/** Two requests with one key can cross: the second must not go on when the first has revoked it. */
const checkStillGood = async (tx: Orm, keyId: number): Promise<void> => {
  const good = and(eq(apiKeys.id, keyId), isNull(apiKeys.revokedAt), isNull(apiKeys.disabledAt))
  const [row] = await tx.select({ id: apiKeys.id }).from(apiKeys).where(good)
  if (row === undefined) throw errors.fail("invalid-api-key")
}

const actorOf = (principal: Principal): string =>
  principal.kind === "agent" ? `agent:${principal.profile.slug}` : `user:${principal.userId}`

/** Changes the keys of the caller's account, one change after the other, and writes it into the audit trail. */
const changing = <T>(
  queries: Queries,
  { principal, at, address, requestId }: KeyChange,
  action: AuditEntry["action"],
  work: (tx: Orm) => Promise<{ readonly target: string; readonly result: T }>,
): Promise<T> =>
  queries.transaction(async (tx) => {
    await lockUser(tx, principal.userId)
    await checkStillGood(tx, principal.keyId)
    const { target, result } = await work(tx)
    await audit(tx, { at, actor: actorOf(principal), action, target, address, requestId })
    return result
  })

/** The account's keys that are not revoked, oldest first: one more than the page, when there are more. */
export const listKeys = (
  queries: Queries,
  userId: number,
  page: { readonly limit: number; readonly offset: number },
): Promise<StoredKey[]> =>
  queries.run((db) =>
    db
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt)))
      .orderBy(asc(apiKeys.id))
      .offset(page.offset)
      .limit(page.limit + 1),
  )

/** Throws too-many-keys, and invalid-api-key when the calling key has died meanwhile. */
export const mintAccountKey = (
  queries: Queries,
  change: KeyChange,
  key: {
    readonly kind: "ak" | "pk" | "sk"
    readonly name: string
    readonly origin?: string
    readonly expiresAt?: Date
  },
  randomBytes: (size: number) => Uint8Array,
): Promise<{ readonly id: number; readonly text: string }> => {
  const { userId } = change.principal
  return changing(queries, change, "key.mint", async (tx) => {
    const [held] = await tx.select({ keys: count() }).from(apiKeys).where(live(userId, change.at))
    if ((held?.keys ?? 0) >= mostLiveKeys) throw errors.fail("too-many-keys")
    const made = await insertKey(tx, { ...key, userId, createdAt: change.at }, randomBytes)
    return { target: `key:${made.id}`, result: made }
  })
}

/** Gives how many usable secret keys are left. Throws key-not-found, and invalid-api-key as minting does. */
export const revokeAccountKey = (queries: Queries, change: KeyChange, id: number): Promise<number> => {
  const { userId } = change.principal
  return changing(queries, change, "key.revoke", async (tx) => {
    const own = and(eq(apiKeys.id, id), eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt))
    const gone = await tx.update(apiKeys).set({ revokedAt: change.at }).where(own).returning({ id: apiKeys.id })
    if (gone.length === 0) throw errors.fail("key-not-found")
    const usable = and(live(userId, change.at), isNull(apiKeys.disabledAt), eq(apiKeys.keyClass, sql`'secret'`))
    const [left] = await tx.select({ keys: count() }).from(apiKeys).where(usable)
    return { target: `key:${id}`, result: left?.keys ?? 0 }
  })
}
