import { audit, type AuditEntry } from "../audit.ts"
import { and, asc, eq, gt, isNotNull, isNull, type Orm, type Queries, sql } from "../db/database.ts"
import { apiKeys, keyEnd } from "../db/schema/index.ts"
import { errors } from "../errors.ts"
import { insertKey, type KeyMaterial, lockUser } from "./accounts.ts"
import { accountName, type Principal } from "./authenticate.ts"

export const maxLiveKeys = 25
export const maxReplacedKeys = 25

/** A change of an account's keys: who makes it, and what the audit log records of the request. */
export type KeyChange = {
  readonly principal: Principal
  /** Read under the account's lock: a time from before the wait could be older than what another change has set. */
  readonly now: () => Date
  readonly address: string
  readonly requestId: string
}

export type StoredKey = typeof apiKeys.$inferSelect

export const keyStatus = (key: StoredKey, at: Date): "active" | "disabled" | "expired" => {
  if (key.disabledAt !== null) return "disabled"
  return key.expiresAt !== null && key.expiresAt <= at ? "expired" : "active"
}

const own = (userId: number, id: number) =>
  and(eq(apiKeys.id, id), eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt))

const live = (userId: number, at: Date) =>
  and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt), gt(keyEnd, sql`${at.toISOString()}::timestamptz`))

/** A replaced key can't manage keys, except that it may be rotated again. Throws key-replaced. */
export const checkManager = ({ isReplaced, keyId }: Principal, rotated?: number): void => {
  if (isReplaced && rotated !== keyId) throw errors.fail("key-replaced")
}

/** Concurrent requests: the second must fail if the first revoked or replaced its key. */
const checkStillGood = async (tx: Orm, principal: Principal, at: Date, rotated?: number): Promise<void> => {
  const [row] = await tx.select().from(apiKeys).where(own(principal.userId, principal.keyId))
  if (row === undefined) throw errors.fail("invalid-api-key")
  const status = keyStatus(row, at)
  if (status !== "active") throw errors.fail(`${status}-api-key`)
  checkManager({ ...principal, isReplaced: row.replacedBy !== null }, rotated)
}

type Tell = (action: AuditEntry["action"], target: string) => Promise<void>

/** Changes the keys of the caller's account, one change at a time, and writes each to the audit log. */
const changing = <T>(
  queries: Queries,
  change: KeyChange,
  work: (tx: Orm, at: Date, tell: Tell) => Promise<T>,
  rotated?: number,
): Promise<T> => {
  const { principal, now, address, requestId } = change
  const transact = async (tx: Orm): Promise<T> => {
    await lockUser(tx, principal.userId)
    const at = now()
    await checkStillGood(tx, principal, at, rotated)
    const actor = accountName(principal)
    return work(tx, at, (action, target) => audit(tx, { at, actor, action, target, address, requestId }))
  }
  return queries.transaction(transact, `user ${principal.userId}`)
}

/** The account's keys that aren't revoked, oldest first: one more than the limit, if there are more. */
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

/** Throws too-many-keys, and the 401 or 403 of a calling key that became invalid meanwhile. */
export const mintAccountKey = (
  queries: Queries,
  change: KeyChange,
  key: Pick<Parameters<typeof insertKey>[1], "kind" | "name" | "origins">,
  expiry: (at: Date) => Date | undefined,
  material: KeyMaterial,
) => {
  const { userId } = change.principal
  return changing(queries, change, async (tx, at, tell) => {
    const held = await tx.$count(apiKeys, and(live(userId, at), isNull(apiKeys.replacedBy)))
    if (held >= maxLiveKeys) {
      throw errors.fail("too-many-keys", { message: `The account has ${maxLiveKeys} live keys.` })
    }
    const expiresAt = expiry(at)
    const made = await insertKey(tx, { ...key, expiresAt, userId, createdAt: at }, material)
    await tell("key.mint", `key:${made.id}`)
    return { ...made, expiresAt }
  })
}

/** Returns how many usable secret keys are left that weren't replaced. Throws key-not-found, and what minting does. */
export const revokeAccountKey = (queries: Queries, change: KeyChange, id: number): Promise<number> => {
  const { userId } = change.principal
  return changing(queries, change, async (tx, at, tell) => {
    const gone = await tx.update(apiKeys).set({ revokedAt: at }).where(own(userId, id)).returning({ id: apiKeys.id })
    if (gone.length === 0) throw errors.fail("key-not-found")
    await tell("key.revoke", `key:${id}`)
    const usable = and(isNull(apiKeys.disabledAt), isNull(apiKeys.replacedBy), eq(apiKeys.keyClass, "secret"))
    return tx.$count(apiKeys, and(live(userId, at), usable))
  })
}

/**
 * Disables a key, or enables it again, and returns it with the time. A key that already is what it should be stays unchanged. Throws
 * key-not-found, key-disabled-by-operator, and what minting does.
 */
export const switchAccountKey = (
  queries: Queries,
  change: KeyChange,
  id: number,
  verb: "disable" | "enable",
): Promise<{ readonly key: StoredKey; readonly at: Date }> => {
  const mine = own(change.principal.userId, id)
  return changing(queries, change, async (tx, at, tell) => {
    // Locked, because the operator may disable it at the same time.
    const [key] = await tx.select().from(apiKeys).where(mine).for("update")
    if (key === undefined) throw errors.fail("key-not-found")
    if ((key.disabledAt !== null) === (verb === "disable")) return { key, at }
    if (verb === "enable" && key.disabledBy !== "owner") throw errors.fail("key-disabled-by-operator")
    const values =
      verb === "disable" ? { disabledAt: at, disabledBy: "owner" as const } : { disabledAt: null, disabledBy: null }
    await tx.update(apiKeys).set(values).where(mine)
    await tell(`key.${verb}`, `key:${id}`)
    return { key: { ...key, ...values }, at }
  })
}

/** A successor that was never used, because the client lost the response. Throws key-already-rotated for any other. */
const lostSuccessor = async (tx: Orm, id: number, at: Date): Promise<StoredKey> => {
  // Locked, so that its first use comes either before this check or after the rotation.
  const [row] = await tx.select().from(apiKeys).where(eq(apiKeys.id, id)).for("update")
  const isUnused = row?.revokedAt === null && row.lastUsedAt === null && row.replacedBy === null
  if (!isUnused || keyStatus(row, at) !== "active") throw errors.fail("key-already-rotated")
  return row
}

/**
 * Replaces a key by one of the same class, origin and lifetime. The old key expires after the overlap. Throws
 * key-not-found, key-not-active, key-already-rotated, too-many-keys, and what minting does.
 */
export const rotateAccountKey = (
  queries: Queries,
  change: KeyChange,
  id: number,
  wish: { readonly name: string | undefined; readonly overlapSeconds: number },
  material: KeyMaterial,
) => {
  const { principal } = change
  const { userId } = principal
  const rotate = async (tx: Orm, at: Date, tell: Tell) => {
    const [old] = await tx.select().from(apiKeys).where(own(userId, id))
    if (old === undefined) throw errors.fail("key-not-found")
    if (keyStatus(old, at) !== "active") throw errors.fail("key-not-active")
    const lost = old.replacedBy === null ? undefined : await lostSuccessor(tx, old.replacedBy, at)
    // Ended by that rotation, though by the clock of a replica that is ahead.
    if (lost && old.expiresAt && old.expiresAt <= lost.createdAt) throw errors.fail("key-not-active")
    const overlapEnd = new Date(at.getTime() + wish.overlapSeconds * 1000)
    const oldExpiresAt = old.expiresAt !== null && old.expiresAt < overlapEnd ? old.expiresAt : overlapEnd
    if (lost !== undefined) {
      await tx.update(apiKeys).set({ revokedAt: at }).where(eq(apiKeys.id, lost.id))
      await tell("key.revoke", `key:${lost.id}`)
    } else if (oldExpiresAt > at) {
      const replaced = await tx.$count(apiKeys, and(live(userId, at), isNotNull(apiKeys.replacedBy)))
      if (replaced >= maxReplacedKeys) {
        const message = `The account has ${maxReplacedKeys} replaced keys that are still live.`
        const hint = "Revoke one of them, or rotate with overlap_seconds 0."
        throw errors.fail("too-many-keys", { message, hint })
      }
    }
    // The old key's expiry may already be the end of an overlap.
    const { expiresAt: end, createdAt: begin } = lost ?? old
    const expiresAt = end === null ? undefined : new Date(at.getTime() + end.getTime() - begin.getTime())
    const origins = old.originAllowlist ?? undefined
    const key = {
      kind: old.keyClass === "publishable" ? "pk" : principal.kind === "agent" ? "ak" : "sk",
      userId,
      name: wish.name ?? old.name,
      createdAt: at,
      replaces: id,
      origins,
      expiresAt,
    } as const
    const made = await insertKey(tx, key, material)
    await tx.update(apiKeys).set({ replacedBy: made.id, expiresAt: oldExpiresAt }).where(eq(apiKeys.id, id))
    await tell("key.rotate", `key:${id} key:${made.id}`)
    return { ...made, name: key.name, origins, expiresAt, oldExpiresAt }
  }
  return changing(queries, change, rotate, id)
}
