import { audit, type AuditEntry } from "../audit.ts"
import { insertKey, readKeySecret } from "../auth/accounts.ts"
import { and, desc, eq, isNull, orm, type Orm, type Queries, theRow } from "../db/database.ts"
import { brokenConstraint } from "../db/errors.ts"
import { agentProfiles, apiKeys, auditLog, users } from "../db/schema/index.ts"
import { normaliseOrigin } from "../auth/origin.ts"
import { CommandError } from "./command-error.ts"

/** What sets each status, as the audit log names it. The commands have the same names. */
export const statusActions = { active: "agent.enable", disabled: "agent.disable" } as const satisfies Record<
  (typeof agentProfiles.$inferSelect)["status"],
  AuditEntry["action"]
>

/**
 * Takes effect with the agent's next request, on every replica. Throws CommandError.
 * @param message what a disabled agent's requests are told
 */
export const setAgentStatus = (
  queries: Queries,
  slug: string,
  status: keyof typeof statusActions,
  at: Date,
  message?: string,
) =>
  queries.transaction(async (tx) => {
    if (message !== undefined && (message.length > 500 || message.trim() === ""))
      throw new CommandError("usage", "--message must be 1 to 500 characters")
    const isActive = status === "active"
    const changed = await tx
      .update(agentProfiles)
      .set({
        status,
        disabledAt: isActive ? null : at,
        disabledMessage: isActive ? null : (message ?? null),
      })
      .where(eq(agentProfiles.slug, slug))
      .returning({ slug: agentProfiles.slug })
    if (changed.length === 0)
      throw new CommandError("agent-not-found", "the agent wasn't found: `agent list` shows every slug")
    await audit(tx, { at, actor: "operator", action: statusActions[status], target: `agent:${slug}` })
    return { slug, status }
  })

/** Creates a person's account and its first key. Throws CommandError. */
export const createUser = async (
  queries: Queries,
  given: { readonly email: string; readonly name: string | undefined },
  at: Date,
  randomBytes: (size: number) => Uint8Array,
) => {
  const email = given.email.trim().toLowerCase()
  // Only rejects what can't be an address. Whether mail arrives there is unknown.
  if (!/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email) || email.length > 254) {
    throw new CommandError("invalid-email", "the e-mail address isn't valid")
  }
  try {
    return await queries.transaction(async (tx) => {
      const values = { kind: "human", email, name: given.name ?? null, createdAt: at } as const
      const user = theRow(await tx.insert(users).values(values).returning({ id: users.id }))
      const first = { kind: "sk", userId: user.id, name: "first", createdAt: at } as const
      const key = await insertKey(tx, first, { randomBytes, keySecret: await readKeySecret(tx) })
      await audit(tx, { at, actor: "operator", action: "user.create", target: `user:${user.id}` })
      await audit(tx, { at, actor: "operator", action: "key.mint", target: `key:${key.id}` })
      return { id: user.id, email, api_key: key.text }
    })
  } catch (error) {
    if (brokenConstraint(error) !== "users_email_unique") throw error
    throw new CommandError("email-taken", "an account with this e-mail address already exists")
  }
}

/** Takes effect with the key's next request, on every replica. Throws CommandError. */
export const changeKey = (queries: Queries, id: number, verb: "disable" | "enable" | "revoke", at: Date) =>
  queries.transaction(async (tx) => {
    const change = {
      disable: { disabledAt: at, disabledBy: "operator" },
      enable: { disabledAt: null, disabledBy: null },
      revoke: { revokedAt: at },
    } as const
    const changed = await tx
      .update(apiKeys)
      .set(change[verb])
      .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt)))
      .returning({ id: apiKeys.id })
    if (changed.length === 0) throw new CommandError("key-not-found", "the key wasn't found or is revoked")
    await audit(tx, { at, actor: "operator", action: `key.${verb}`, target: `key:${id}` })
    return { id, status: { disable: "disabled", enable: "enabled", revoke: "revoked" }[verb] }
  })

export const listAudit = (queries: Queries, limit: number) => {
  const { id, at, actor, action, target, outcome, addressPrefix, requestId } = auditLog
  const columns = { id, at, actor, action, target, outcome, address_prefix: addressPrefix, request_id: requestId }
  return queries.run((db) => db.select(columns).from(auditLog).orderBy(desc(id)).limit(limit))
}

// Nobody can have this address: the account is the pages' own, and has no other key.
const email = "viewer@pages.invalid"

const viewerId = async (tx: Orm, at: Date): Promise<number> => {
  const values = { kind: "human", email, name: "Documentation pages", createdAt: at } as const
  await tx.insert(users).values(values).onConflictDoNothing()
  return theRow(await tx.select({ id: users.id }).from(users).where(eq(users.email, email))).id
}

/**
 * Mints a publishable key for the documentation's pages, which never expires.
 * @param given.replace whether the former keys of the same origin are revoked
 * @throws CommandError
 */
export const createViewerKey = (
  queries: Queries,
  given: { readonly origin: string; readonly replace: boolean },
  at: Date,
  randomBytes: (size: number) => Uint8Array,
) => {
  const read = normaliseOrigin(given.origin)
  if ("fault" in read)
    throw new CommandError(
      read.fault,
      "--origin must be the origin of the documentation, such as https://docs.example.com",
    )
  const { origin } = read
  return queries.transaction(async (tx) => {
    const userId = await viewerId(tx, at)
    const former = and(
      eq(apiKeys.userId, userId),
      isNull(apiKeys.revokedAt),
      orm.arrayContains(apiKeys.originAllowlist, [origin]),
    )
    const revoked = given.replace
      ? await tx.update(apiKeys).set({ revokedAt: at }).where(former).returning({ id: apiKeys.id })
      : []
    for (const { id } of revoked) await audit(tx, { at, actor: "operator", action: "key.revoke", target: `key:${id}` })
    const key = { kind: "pk", userId, name: "viewer", origins: [origin], createdAt: at } as const
    const { id, text } = await insertKey(tx, key, { randomBytes, keySecret: await readKeySecret(tx) })
    await audit(tx, { at, actor: "operator", action: "key.mint", target: `key:${id}` })
    return { id, key: text, origin, revoked: revoked.map((one) => one.id) }
  })
}
