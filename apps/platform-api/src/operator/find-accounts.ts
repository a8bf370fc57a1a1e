import { keyPrefixes } from "@svc/keys"
import { and, asc, eq, inArray, isNotNull, isNull, or, type Queries, sql } from "../db/database.ts"
import { agentProfiles, apiKeys, auditLog, users } from "../db/schema/index.ts"
import { CommandError } from "./command-error.ts"

const agentColumns = {
  slug: agentProfiles.slug,
  display_name: agentProfiles.displayName,
  status: agentProfiles.status,
  created_at: agentProfiles.createdAt,
  last_seen_at: agentProfiles.lastSeenAt,
  disabled_at: agentProfiles.disabledAt,
  message: agentProfiles.disabledMessage,
}

/** All agents, or those that are disabled, oldest first. */
export const listAgents = (queries: Queries, onlyDisabled: boolean) =>
  queries.run((db) =>
    db
      .select(agentColumns)
      .from(agentProfiles)
      .where(onlyDisabled ? eq(agentProfiles.status, "disabled") : undefined)
      .orderBy(asc(agentProfiles.userId)),
  )

const personColumns = {
  owner: sql<string>`'user:' || ${users.id}`,
  email: users.email,
  name: users.name,
  created_at: users.createdAt,
}

const keyColumns = {
  id: apiKeys.id,
  owner: sql<string>`coalesce('agent:' || ${agentProfiles.slug}, 'user:' || ${apiKeys.userId})`,
  key_hint: sql<string>`${apiKeys.prefix} || '…' || ${apiKeys.lastFour}`,
  name: apiKeys.name,
  created_at: apiKeys.createdAt,
  last_used_at: apiKeys.lastUsedAt,
  disabled_at: apiKeys.disabledAt,
  disabled_by: apiKeys.disabledBy,
}

const keysWhere = (queries: Queries, condition: ReturnType<typeof and>) =>
  queries.run((db) =>
    db
      .select(keyColumns)
      .from(apiKeys)
      .leftJoin(agentProfiles, eq(agentProfiles.userId, apiKeys.userId))
      .where(and(isNull(apiKeys.revokedAt), condition))
      .orderBy(asc(apiKeys.id)),
  )

/** All disabled keys, with who disabled them and when. */
export const listDisabledKeys = (queries: Queries) => keysWhere(queries, isNotNull(apiKeys.disabledAt))

/** The slug in `agent:SLUG`, as logs and `agent find` have it, or the slug itself. */
export const slugOf = (target: string): string => target.replace(/^agent:/, "")

const hintOfKey = new RegExp(`^(?:${keyPrefixes.join("|")})?…?([0-9A-Za-z]{4})$`)

/**
 * The accounts that a log line, a report or a key leads to, with their keys: agents with their networks, and people.
 * @param text a slug or `agent:<slug>`, `user:<id>`, a key's id, a key's hint (`svc_ak_…a1b2`, or its last four characters), or the
 *   network of a sign-up. Throws CommandError where nothing is found
 */
export const findAccounts = async (queries: Queries, text: string) => {
  // Nothing has the id 0 or an empty text.
  const numberIn = (pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0)
  const lastFour = hintOfKey.exec(text)?.[1] ?? ""
  const { target, action, addressPrefix: address_prefix } = auditLog
  const { slug } = agentColumns
  const found = await queries.run((db) => {
    const isKey = or(eq(apiKeys.id, numberIn(/^(\d{1,9})$/)), eq(apiKeys.lastFour, lastFour))
    const byKey = db
      .select({ id: apiKeys.userId })
      .from(apiKeys)
      .where(and(isNull(apiKeys.revokedAt), isKey))
    const isSignUp = eq(action, "agent.signup")
    const ofNetwork = db
      .select({ target })
      .from(auditLog)
      .where(and(isSignUp, eq(address_prefix, text)))
    const isPerson = and(eq(users.id, numberIn(/^user:(\d{1,9})$/)), eq(users.kind, "human"))
    const name = sql<string>`'agent:' || ${slug}`
    return db
      .select({ id: users.id, agent: agentColumns, person: personColumns, address_prefix })
      .from(users)
      .leftJoin(agentProfiles, eq(agentProfiles.userId, users.id))
      .leftJoin(auditLog, and(isSignUp, eq(target, name)))
      .where(or(isPerson, eq(slug, slugOf(text)), inArray(name, ofNetwork), inArray(users.id, byKey)))
      .orderBy(asc(users.id))
  })
  if (found.length === 0)
    throw new CommandError("agent-not-found", "no account has this name, key id, key hint or network of its sign-up")
  const ids = found.map(({ id }) => id)
  const keys = await keysWhere(queries, inArray(apiKeys.userId, ids))
  return found.map(({ agent, person, address_prefix: network }) => {
    const account = agent === null ? person.owner : `agent:${agent.slug}`
    const own = keys.filter(({ owner }) => owner === account).map(({ owner: _owner, ...key }) => key)
    return Object.assign(agent === null ? person : { ...agent, address_prefix: network }, { keys: own })
  })
}
