// Deletes unused agents and old rows of the audit log.
import { audit } from "../audit.ts"
import { and, asc, eq, gt, gte, inArray, lt, lte, or, type Orm, orm, type Queries, sql } from "../db/database.ts"
import * as schema from "../db/schema/index.ts"
import { CommandError } from "./command-error.ts"

const { agentProfiles, apiKeys, auditLog, users } = schema

const dayMs = 24 * 3600 * 1000
// Small batches hold few locks for a short time, so that a request waits only milliseconds.
const agentsAtOnce = 250
const rowsAtOnce = 2000
// Agents are found in the order of their last use, without an index that every use would have to update.
const candidatesAtOnce = 100_000

const isUnused = (before: Date) =>
  and(eq(agentProfiles.status, "active"), lt(agentProfiles.createdAt, before), lt(agentProfiles.lastSeenAt, before))

/** The owner of a row, or whom it is shared with. Who has one of these rows isn't pruned. */
export const holders = [
  schema.specs.ownerId,
  schema.builds.ownerId,
  schema.deployments.ownerId,
  schema.runs.ownerId,
  schema.stacks.ownerId,
  schema.stackNames.ownerId,
  schema.specShares.userId,
  schema.buildShares.userId,
  schema.deploymentShares.userId,
  schema.runShares.userId,
]
const shared = ["specs", "builds", "deployments", "runs"]

/** The unused agents that come after the last one, by the time of their last use. */
const candidates = (tx: Orm, before: Date, last: Candidate | undefined): Promise<Candidate[]> => {
  const { userId: id, lastSeenAt: seen } = agentProfiles
  const isNext = last && or(gt(seen, last.seen), and(eq(seen, last.seen), gt(id, last.id)))
  return tx
    .select({ id, seen })
    .from(agentProfiles)
    .where(and(isUnused(before), isNext))
    .orderBy(asc(seen), asc(id))
    .limit(candidatesAtOnce)
}

const prunable = (db: Orm, before: Date, ids: readonly number[]) => {
  const { userId, slug } = agentProfiles
  // A use is noted some seconds later, but a key that was made is there at once.
  const isRecent = or(gte(apiKeys.lastUsedAt, before), gte(apiKeys.createdAt, before))
  const usedKey = and(eq(apiKeys.userId, userId), isRecent)
  const hasNothing = and(
    ...holders.map((id) => orm.notExists(db.select({ id }).from(id.table).where(eq(id, userId)))),
    orm.notExists(db.select({ id: apiKeys.id }).from(apiKeys).where(usedKey)),
  )
  return db
    .select({ id: userId, slug })
    .from(agentProfiles)
    .where(and(inArray(userId, [...ids]), isUnused(before), hasNothing))
}

type Candidate = { readonly id: number; readonly seen: Date }

const idsOf = (rows: readonly { readonly id: number }[]): number[] => rows.map(({ id }) => id)

const deleteAgents = async (tx: Orm, agents: readonly { readonly id: number; readonly slug: string }[]) => {
  const ids = idsOf(agents)
  const subjects = agents.map(({ slug }) => `agent:${slug}`)
  await tx.delete(apiKeys).where(inArray(apiKeys.userId, ids))
  await tx.delete(schema.idempotencyKeys).where(inArray(schema.idempotencyKeys.userId, ids))
  await tx.delete(agentProfiles).where(inArray(agentProfiles.userId, ids))
  await tx
    .delete(schema.recordBlocks)
    .where(and(inArray(schema.recordBlocks.kind, shared), inArray(schema.recordBlocks.userId, ids)))
  await tx.delete(schema.tokenLimits).where(inArray(schema.tokenLimits.subject, subjects))
  await tx.delete(users).where(inArray(users.id, ids))
}

type Pruning = {
  readonly unusedDays: number
  readonly at: Date
  /** `operator`, or `platform` for the daily run. */
  readonly actor: string
  /** Only counts. */
  readonly dryRun?: boolean
}

/**
 * Deletes agents that were created before the cutoff, haven't been used since and own nothing. The least recently used
 * agents go first. Each batch is a transaction with its own row in the audit log. Locked agents are skipped until the
 * next run.
 */
export const pruneAgents = async (queries: Queries, { unusedDays, at, actor, dryRun = false }: Pruning) => {
  const before = new Date(at.getTime() - unusedDays * dayMs)
  const cutoff = before.toISOString()
  const prune = (batch: readonly Candidate[]): Promise<number> =>
    queries.transaction(async (tx) => {
      // Lock first: from here on nothing can be shared with them, and the next statement sees what was shared before.
      const locked = await tx
        .select({ id: users.id })
        .from(users)
        .where(inArray(users.id, idsOf(batch)))
        .orderBy(asc(users.id))
        .for("update", { skipLocked: true })
      const agents = await prunable(tx, before, idsOf(locked))
      if (agents.length === 0) return 0
      await deleteAgents(tx, agents)
      const target = `agents:${agents.length} unused-since:${cutoff}`
      await audit(tx, { at, actor, action: "agent.prune", target })
      return agents.length
    })
  const count = async (batch: readonly Candidate[]): Promise<number> =>
    (await queries.run((db) => prunable(db, before, idsOf(batch)))).length

  let pruned = 0
  let last: Candidate | undefined
  for (let more = true; more;) {
    const found = await queries.transaction(async (tx) => {
      // This statement reads the whole table.
      await tx.execute(sql`set local statement_timeout = 0`)
      return candidates(tx, before, last)
    })
    for (let from = 0; from < found.length; from += agentsAtOnce) {
      pruned += await (dryRun ? count : prune)(found.slice(from, from + agentsAtOnce))
    }
    last = found.at(-1)
    more = found.length === candidatesAtOnce
  }
  return { unused_since: cutoff, agents: pruned, dry_run: dryRun }
}

/** Prunes once a day, on whichever replica comes first. */
export const pruneDaily = async (queries: Queries, pruning: Omit<Pruning, "actor" | "dryRun">): Promise<void> => {
  const { at: begunAt } = pruning
  const begun = await queries.run((db) =>
    db
      .insert(schema.dailyWork)
      .values({ name: "agent prune", begunAt })
      .onConflictDoUpdate({
        target: schema.dailyWork.name,
        set: { begunAt },
        setWhere: lte(schema.dailyWork.begunAt, new Date(begunAt.getTime() - dayMs)),
      })
      .returning({ name: schema.dailyWork.name }),
  )
  if (begun.length > 0) await pruneAgents(queries, { ...pruning, actor: "platform" })
}

/**
 * Deletes rows of the audit log that are older than `olderDays`. Each batch is a transaction with its own row there. Only the owner
 * of the tables can. Throws CommandError.
 */
export const pruneAudit = async (queries: Queries, olderDays: number, at: Date) => {
  const before = new Date(at.getTime() - olderDays * dayMs)
  const cutoff = before.toISOString()
  // SQL, because the builder doesn't know the catalog.
  const owner = "select pg_has_role(relowner, 'USAGE') as owns from pg_class where oid = $1::regclass"
  const [role] = await queries.query<{ owns: boolean }>(owner, ["audit_log"])
  if (role?.owns !== true) {
    throw new CommandError("not-owner", "audit prune must run as the role that owns the tables, like migrate")
  }
  let pruned = 0
  for (let more = true; more;) {
    const rows = await queries.transaction(async (tx) => {
      await tx.execute(sql`select set_config('svc.prune_audit', 'on', true)`)
      const { id } = auditLog
      const old = tx.select({ id }).from(auditLog).where(lt(auditLog.at, before)).orderBy(asc(id)).limit(rowsAtOnce)
      const deleted = await tx.delete(auditLog).where(inArray(id, old)).returning({ id })
      const target = `rows:${deleted.length} older-than:${cutoff}`
      if (deleted.length > 0) await audit(tx, { at, actor: "operator", action: "audit.prune", target })
      return deleted
    })
    pruned += rows.length
    more = rows.length === rowsAtOnce
  }
  return { older_than: cutoff, rows: pruned }
}
