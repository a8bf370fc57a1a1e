// Deletes unused agents and old rows of the audit log.
import { audit } from "../audit.ts"
import type { Orm, Queries } from "../db/database.ts"
import { bind, rowsOf } from "../db/statements.ts"
import { sql } from "../db/drizzle.ts"
import { CommandError } from "./command-error.ts"

const dayMs = 24 * 3600 * 1000
// Small batches hold few locks for a short time, so that a request waits only milliseconds.
const agentsAtOnce = 250
const rowsAtOnce = 2000
// Agents are found in the order of their last use, without an index that every use would have to update.
const candidatesAtOnce = 100_000

const isUnused = `p.status = 'active' and p.created_at < $1::timestamptz and p.last_seen_at < $1::timestamptz`
const candidatesSql = `
  select p.user_id as id, p.last_seen_at::text as seen from agent_profiles p
  where ${isUnused} and (p.last_seen_at, p.user_id) > ($2::timestamptz, $3::integer)
  order by p.last_seen_at, p.user_id limit $4`

const owning = ["specs", "builds", "deployments", "runs", "stacks", "stack_names"]
const sharing = ["spec_shares", "build_shares", "deployment_shares", "run_shares"]
const hasNothing = [
  ...owning.map((table) => `not exists (select from ${table} r where r.owner_id = p.user_id)`),
  ...sharing.map((table) => `not exists (select from ${table} r where r.user_id = p.user_id)`),
  `not exists (select from api_keys k where k.user_id = p.user_id and k.last_used_at >= $1::timestamptz)`,
].join(" and ")
const prunableSql = `select p.user_id as id, p.slug from agent_profiles p
  where p.user_id = any($2::integer[]) and ${isUnused} and ${hasNothing}`

type Candidate = { readonly id: number; readonly seen: string }

const idsOf = (rows: readonly { readonly id: number }[]): string => `{${rows.map(({ id }) => id).join(",")}}`

const deleteAgents = async (tx: Orm, agents: readonly { readonly id: number; readonly slug: string }[]) => {
  const ids = idsOf(agents)
  for (const table of ["api_keys", "idempotency_keys", "agent_profiles"]) {
    await tx.execute(bind(`delete from ${table} where user_id = any($1::integer[])`, [ids]))
  }
  const kinds = "('specs', 'builds', 'deployments', 'runs')"
  await tx.execute(bind(`delete from record_blocks where kind in ${kinds} and user_id = any($1::integer[])`, [ids]))
  const subjects = `{${agents.map(({ slug }) => `agent:${slug}`).join(",")}}`
  await tx.execute(bind("delete from token_limits where subject = any($1::text[])", [subjects]))
  await tx.execute(bind("delete from users where id = any($1::integer[])", [ids]))
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
      const locked = await rowsOf<{ id: number }>(
        tx,
        bind("select id from users where id = any($1::integer[]) order by id for update skip locked", [idsOf(batch)]),
      )
      const agents = await rowsOf<{ id: number; slug: string }>(tx, bind(prunableSql, [cutoff, idsOf(locked)]))
      if (agents.length === 0) return 0
      await deleteAgents(tx, agents)
      const target = `agents:${agents.length} unused-since:${cutoff}`
      await audit(tx, { at, actor, action: "agent.prune", target })
      return agents.length
    })
  const count = async (batch: readonly Candidate[]): Promise<number> =>
    (await queries.query(prunableSql, [cutoff, idsOf(batch)])).length

  let pruned = 0
  let last: Candidate = { id: 0, seen: "-infinity" }
  for (let more = true; more;) {
    const { seen, id } = last
    const found = await queries.transaction(async (tx) => {
      // This statement reads the whole table.
      await tx.execute(sql`set local statement_timeout = 0`)
      return rowsOf<Candidate>(tx, bind(candidatesSql, [cutoff, seen, id, candidatesAtOnce]))
    })
    for (let from = 0; from < found.length; from += agentsAtOnce) {
      pruned += await (dryRun ? count : prune)(found.slice(from, from + agentsAtOnce))
    }
    last = found.at(-1) ?? last
    more = found.length === candidatesAtOnce
  }
  return { unused_since: cutoff, agents: pruned, dry_run: dryRun }
}

/** Prunes once a day, on whichever replica comes first. */
export const pruneDaily = async (queries: Queries, pruning: Omit<Pruning, "actor" | "dryRun">): Promise<void> => {
  const begun = await queries.query(
    `insert into daily_work (name, begun_at) values ($1, $2::timestamptz) on conflict (name)
     do update set begun_at = excluded.begun_at where daily_work.begun_at <= excluded.begun_at - interval '1 day' returning 1`,
    ["agent prune", pruning.at.toISOString()],
  )
  if (begun.length > 0) await pruneAgents(queries, { ...pruning, actor: "platform" })
}

/**
 * Deletes rows of the audit log that are older than `olderDays`. Only the owner of the tables can. Throws CommandError.
 */
export const pruneAudit = async (queries: Queries, olderDays: number, at: Date) => {
  const cutoff = new Date(at.getTime() - olderDays * dayMs).toISOString()
  const owner = "select pg_has_role(relowner, 'USAGE') as owns from pg_class where oid = $1::regclass"
  const [role] = await queries.query<{ owns: boolean }>(owner, ["audit_log"])
  if (role?.owns !== true) {
    throw new CommandError("not-owner", "audit prune must run as the role that owns the tables, like migrate")
  }
  const old = "select id from audit_log where at < $1::timestamptz order by id limit $2"
  let pruned = 0
  for (let more = true; more;) {
    const rows = await queries.transaction(async (tx) => {
      await tx.execute(sql`select set_config('svc.prune_audit', 'on', true)`)
      return rowsOf(tx, bind(`delete from audit_log where id in (${old}) returning 1`, [cutoff, rowsAtOnce]))
    })
    pruned += rows.length
    more = rows.length === rowsAtOnce
  }
  if (pruned > 0) {
    const target = `rows:${pruned} older-than:${cutoff}`
    await queries.transaction((tx) => audit(tx, { at, actor: "operator", action: "audit.prune", target }))
  }
  return { older_than: cutoff, rows: pruned }
}
