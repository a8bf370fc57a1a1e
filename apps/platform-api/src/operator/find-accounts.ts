import type { SQL } from "drizzle-orm"
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

const hint = sql<string>`${apiKeys.prefix} || '…' || ${apiKeys.lastFour}`

const keyColumns = {
  id: apiKeys.id,
  owner: sql<string>`coalesce('agent:' || ${agentProfiles.slug}, 'user:' || ${apiKeys.userId})`,
  key_hint: hint,
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

/** Sign-ups as the audit trail has them: the agent, and the network that it came from. */
const signUps = async (queries: Queries, which: SQL) => {
  const { target, action, addressPrefix: network } = auditLog
  const isSignUp = and(eq(action, "agent.signup"), which)
  const rows = await queries.run((db) => db.select({ target, network }).from(auditLog).where(isSignUp))
  return rows.map((row) => ({ slug: slugOf(row.target), network: row.network }))
}

/** The people of these accounts. */
const people = (queries: Queries, owners: readonly string[]) => {
  const ids = owners.flatMap((owner) => /^user:(\d{1,9})$/.exec(owner)?.[1] ?? []).map(Number)
  const { id, email, name, createdAt: created_at } = users
  const owner = sql<string>`'user:' || ${id}`
  const isPerson = and(inArray(id, ids), eq(users.kind, "human"))
  return queries.run((db) => db.select({ owner, email, name, created_at }).from(users).where(isPerson))
}

/**
 * The accounts that a log line, a report or a key leads to, with their keys: agents with their networks, and people.
 * @param text a slug or `agent:<slug>`, `user:<id>`, a key's id, a key's hint (`svc_ak_…a1b2`, or its last four characters), or the
 *   network of a sign-up. Throws CommandError where nothing is found
 */
export const findAccounts = async (queries: Queries, text: string) => {
  const lastFour = /^(?:svc_[ap]k_)?…?([0-9A-Za-z]{4})$/.exec(text)?.[1]
  const isId = /^\d{1,9}$/.test(text)
  const byKey = or(
    isId ? eq(apiKeys.id, Number(text)) : undefined,
    lastFour === undefined ? undefined : eq(apiKeys.lastFour, lastFour),
  )
  const owners = byKey === undefined ? [] : await keysWhere(queries, byKey)
  const slugs = [
    ...owners.map(({ owner }) => slugOf(owner)),
    ...(text.includes("/") ? await signUps(queries, eq(auditLog.addressPrefix, text)) : []).map(({ slug }) => slug),
    slugOf(text),
  ]
  const agents = await queries.run((db) =>
    db.select(agentColumns).from(agentProfiles).where(inArray(agentProfiles.slug, slugs)),
  )
  const persons = await people(queries, slugs)
  if (agents.length + persons.length === 0)
    throw new CommandError("agent-not-found", "no account has this name, key id, key hint or network of its sign-up")
  const found = agents.map(({ slug }) => slug)
  const targets = found.map((slug) => `agent:${slug}`)
  const networks = new Map(
    (await signUps(queries, inArray(auditLog.target, targets))).map((one) => [one.slug, one.network]),
  )
  const isTheirs = or(
    inArray(agentProfiles.slug, found),
    inArray(
      keyColumns.owner,
      persons.map(({ owner }) => owner),
    ),
  )
  const keys = await keysWhere(queries, isTheirs)
  const keysOf = (account: string) =>
    keys.filter(({ owner }) => owner === account).map(({ owner: _owner, ...key }) => key)
  return [
    ...agents.map((agent) =>
      Object.assign(agent, { address_prefix: networks.get(agent.slug) ?? null, keys: keysOf(`agent:${agent.slug}`) }),
    ),
    ...persons.map((person) => Object.assign(person, { keys: keysOf(person.owner) })),
  ]
}
