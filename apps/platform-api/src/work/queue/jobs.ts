import { bind, rowsOf } from "../../db/statements.ts"
import type { Orm } from "../../db/database.ts"

export type JobKind = "build" | "run" | "deployment" | "notice"

/** A record that has to be looked at, in the hand of one worker. */
export type Job = {
  readonly kind: JobKind
  readonly id: number
  /** Calls of the deploy hook so far, and how long ago the first one was. */
  readonly attempts: number
  readonly age_ms: number
  /** How often it was taken in hand since a step of it last came to an end, this time included. */
  readonly claims: number
}

/** A job that so often ended the process that worked on it, or that process's time, does so every time. */
export const mostClaims = 3

/** On which workers are told that there is something to do. */
export const workChannel = "svc_work"

const leaseSeconds = 15

const tell = (tx: Orm) => tx.execute(bind(`select pg_notify('${workChannel}', '')`, []))

// Whoever changes what a worker may have in hand locks in one order, so that neither waits for what the other holds: the
// spec (requests alone), jobs of runs, jobs of what they build, then the records themselves, the registry and notices.

/** Locks what is under way for a spec whose row the transaction has locked: workers begin no step of it until it ends. */
export const lockJobsOf = (tx: Orm, specId: number) =>
  tx.execute(
    bind("select from jobs where spec_id = $1 and kind <> 'notice' order by kind desc, record_id for update", [specId]),
  )

export const lockJob = (tx: Orm, kind: JobKind, id: number) =>
  tx.execute(bind("select from jobs where kind = $1 and record_id = $2 for update", [kind, id]))

/**
 * Locks a worker's job for one step, a build's behind that of its run; tells whether it still has the lease. When the step
 * is committed, the job has come further: its claims count anew.
 */
export const holdJob = async (tx: Orm, { kind, id }: Pick<Job, "kind" | "id">, holder: string): Promise<boolean> => {
  if (kind === "build") {
    const ofRun = "kind = 'run' and record_id = (select run_id from builds where id = $1)"
    await tx.execute(bind(`select from jobs where ${ofRun} for update`, [id]))
  }
  const held = "update jobs set claims = 0 where kind = $1 and record_id = $2 and lease_by = $3 returning kind"
  return (await rowsOf(tx, bind(held, [kind, id, holder]))).length > 0
}

/** Has a record looked at, once the transaction is committed. */
export const addJob = async (tx: Orm, kind: JobKind, id: number, ownerId: number, specId: number): Promise<void> => {
  const statement = `
    insert into jobs (kind, record_id, owner_id, spec_id, next_at) values ($1, $2, $3, $4, now())
    on conflict (kind, record_id) do update set next_at = now(), attempts = 0, first_attempt_at = null, claims = 0`
  await tx.execute(bind(statement, [kind, id, ownerId, specId]))
  await tell(tx)
}

/** Has it looked at now, if anybody waits for it at all. */
export const wakeJob = async (tx: Orm, kind: JobKind, id: number): Promise<void> => {
  await tx.execute(bind("update jobs set next_at = now() where kind = $1 and record_id = $2", [kind, id]))
  await tell(tx)
}

/** Has it looked at after so many milliseconds; null: when something wakes it. */
export const restJob = (tx: Orm, { kind, id }: Pick<Job, "kind" | "id">, ms: number | null) =>
  tx.execute(
    bind(
      `update jobs set next_at = now() + make_interval(secs => $3::double precision / 1000), lease_by = null, lease_until = null
       where kind = $1 and record_id = $2`,
      [kind, id, ms],
    ),
  )

/** A call of the deploy hook came to nothing: the job rests for so long, and remembers. */
export const restAfterCall = async (tx: Orm, job: Job, ms: number): Promise<void> => {
  const statement = `
    update jobs set attempts = attempts + 1, first_attempt_at = coalesce(first_attempt_at, now())
    where kind = $1 and record_id = $2`
  await tx.execute(bind(statement, [job.kind, job.id]))
  await restJob(tx, job, ms)
}

/** Done with it. What waits behind it is told. */
export const dropJob = async (tx: Orm, kind: JobKind, id: number): Promise<void> => {
  await tx.execute(bind("delete from jobs where kind = $1 and record_id = $2", [kind, id]))
  await tell(tx)
}

/** Whether a worker is at it now. */
export const isInHand = async (tx: Orm, kind: JobKind, id: number): Promise<boolean> => {
  const held = "select kind from jobs where kind = $1 and record_id = $2 and lease_until > now()"
  return (await rowsOf(tx, bind(held, [kind, id]))).length > 0
}

/** How many of an owner's records of a kind are under way. */
export const countJobs = async (tx: Orm, kind: JobKind, ownerId: number): Promise<number> => {
  const counted = "select count(*)::integer as n from jobs where kind = $1 and owner_id = $2"
  const [row] = await rowsOf<{ n: number }>(tx, bind(counted, [kind, ownerId]))
  return row?.n ?? 0
}

/**
 * Takes the next job: builds one by one for each owner, runs one by one for each spec, both in their order. A build that
 * waits for a word holds up nobody.
 */
export const claimSql = `
  update jobs set lease_by = $1, lease_until = now() + interval '${leaseSeconds} seconds', claims = claims + 1
  where (kind, record_id) = (
    select j.kind, j.record_id from jobs j
    where j.next_at <= now() and (j.lease_until is null or j.lease_until < now())
      and not (j.kind = 'build' and exists (
        select from jobs o where o.kind = 'build' and o.owner_id = j.owner_id and o.record_id < j.record_id and o.next_at is not null))
      and not (j.kind = 'run' and exists (
        select from jobs o where o.kind = 'run' and o.spec_id = j.spec_id and o.record_id < j.record_id))
    order by j.next_at, j.record_id limit 1 for update of j skip locked
  )
  returning kind, record_id as id, attempts, claims,
    coalesce(extract(epoch from now() - first_attempt_at) * 1000, 0)::integer as age_ms`

/** Those in a step now are left out: nobody takes over what is locked. */
export const renewSql = `
  update jobs set lease_until = now() + interval '${leaseSeconds} seconds' where (kind, record_id) in (
    select kind, record_id from jobs where lease_by = $1 for update skip locked)`
/** The fourth parameter: how many claims are not held against the job. */
export const releaseSql = `
  update jobs set lease_by = null, lease_until = null, claims = greatest(claims - $4, 0)
  where kind = $1 and record_id = $2 and lease_by = $3`
/** Builds that wait for the operator's word look again whether it is still asked for. */
export const wakeParkedSql = "update jobs set next_at = now() where kind = $1 and next_at is null"
/** Jobs by what becomes of them now: in somebody's hand, due, or waiting for their time or a word. */
export const countSql = `
  select case when lease_until > now() then 'running' when next_at <= now() then 'waiting' else 'resting' end as state,
    count(*)::integer as count
  from jobs group by 1`
/** A process that has the database for itself finds only leases of the dead. */
export const releaseAllSql = "update jobs set lease_by = null, lease_until = null where lease_by <> $1"
