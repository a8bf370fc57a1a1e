import type { Orm } from "../../db/database.ts"
import { sql } from "../../db/drizzle.ts"
import { jobs } from "../../db/schema/index.ts"
import { rowsOf } from "../../db/statements.ts"

export type JobKind = (typeof jobs.$inferSelect)["kind"]

/** A record to process, claimed by one worker. */
export type Job = {
  readonly kind: JobKind
  readonly id: number
  /** Calls of the deploy hook so far, and the time since the first. */
  readonly attempts: number
  readonly age_ms: number
  /** How often it was claimed since it last completed a step, this time included. */
  readonly claims: number
}

/** A job that ended its process or used up its time this often will do so again. */
export const mostClaims = 3

/** The channel on which workers are told about new jobs. */
export const workChannel = "svc_work"

const leaseSeconds = 15

const tell = (tx: Orm) => tx.execute(sql`select pg_notify(${workChannel}, '')`)

const isJob = (kind: JobKind, id: number) => sql`kind = ${kind} and record_id = ${id}`

// Every transaction locks in the same order to avoid deadlocks: the spec (requests only), jobs of runs, jobs of their
// builds, then the records, the registry and notices.

/** Locks the jobs of a spec that the transaction has locked. Workers start no step of them until it ends. */
export const lockJobsOf = (tx: Orm, specId: number) =>
  tx.execute(
    sql`select from jobs where spec_id = ${specId} and kind <> 'notice' order by kind desc, record_id for update`,
  )

export const lockJob = (tx: Orm, kind: JobKind, id: number) =>
  tx.execute(sql`select from jobs where ${isJob(kind, id)} for update`)

/**
 * Locks a worker's job for one step, after the job of its run. Returns whether the worker still holds the lease. A
 * committed step resets the claims.
 */
export const holdJob = async (tx: Orm, { kind, id }: Pick<Job, "kind" | "id">, holder: string): Promise<boolean> => {
  if (kind === "build") {
    const run = sql`(select run_id from builds where id = ${id})`
    await tx.execute(sql`select from jobs where kind = 'run' and record_id = ${run} for update`)
  }
  const held = sql`update jobs set claims = 0 where ${isJob(kind, id)} and lease_by = ${holder} returning kind`
  return (await rowsOf(tx, held)).length > 0
}

/** Queues a job, as of the commit. */
export const addJob = async (tx: Orm, kind: JobKind, id: number, ownerId: number, specId: number): Promise<void> => {
  await tx.execute(sql`
    insert into jobs (kind, record_id, owner_id, spec_id, next_at) values (${kind}, ${id}, ${ownerId}, ${specId}, now())
    on conflict (kind, record_id) do update set next_at = now(), attempts = 0, first_attempt_at = null, claims = 0`)
  await tell(tx)
}

/** Makes an existing job due now. */
export const wakeJob = async (tx: Orm, kind: JobKind, id: number): Promise<void> => {
  await tx.execute(sql`update jobs set next_at = now() where ${isJob(kind, id)}`)
  await tell(tx)
}

/** Postpones a job by so many milliseconds; null waits until it is woken. */
export const restJob = (tx: Orm, { kind, id }: Pick<Job, "kind" | "id">, ms: number | null) =>
  tx.execute(sql`
    update jobs set next_at = now() + make_interval(secs => ${ms}::double precision / 1000), lease_by = null, lease_until = null
    where ${isJob(kind, id)}`)

/** Postpones a job after a failed call of the deploy hook, and counts the call. */
export const restAfterCall = async (tx: Orm, job: Job, ms: number): Promise<void> => {
  const counted = sql`attempts = attempts + 1, first_attempt_at = coalesce(first_attempt_at, now())`
  await tx.execute(sql`update jobs set ${counted} where ${isJob(job.kind, job.id)}`)
  await restJob(tx, job, ms)
}

/** Deletes a job, and tells workers, because others may wait for it. */
export const dropJob = async (tx: Orm, kind: JobKind, id: number): Promise<void> => {
  await tx.execute(sql`delete from jobs where ${isJob(kind, id)}`)
  await tell(tx)
}

/** Whether a worker holds it now. */
export const isInHand = async (tx: Orm, kind: JobKind, id: number): Promise<boolean> =>
  (await tx.$count(jobs, sql`${isJob(kind, id)} and lease_until > now()`)) > 0

export const countJobs = (tx: Orm, kind: JobKind, ownerId: number): Promise<number> =>
  tx.$count(jobs, sql`kind = ${kind} and owner_id = ${ownerId}`)

/**
 * Claims the next job. Builds run one at a time per owner and runs one at a time per spec, in order. A build that waits
 * for approval doesn't block others.
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

/** Jobs in a step are skipped. They are locked, so nobody can claim them. */
export const renewSql = `
  update jobs set lease_until = now() + interval '${leaseSeconds} seconds' where (kind, record_id) in (
    select kind, record_id from jobs where lease_by = $1 for update skip locked)`
/** The fourth parameter is the number of claims that don't count against the job. */
export const releaseSql = `
  update jobs set lease_by = null, lease_until = null, claims = greatest(claims - $4, 0)
  where kind = $1 and record_id = $2 and lease_by = $3`
/** Builds that wait for approval check again whether it is still required. */
export const wakeParkedSql = "update jobs set next_at = now() where kind = $1 and next_at is null"
/** Jobs by state: held by a worker, due, or waiting for a time or an event. */
export const countSql = `
  select case when lease_until > now() then 'running' when next_at <= now() then 'waiting' else 'resting' end as state,
    count(*)::integer as count
  from jobs group by 1`
/** With exclusive use of the database, all leases belong to dead processes. */
export const releaseAllSql = "update jobs set lease_by = null, lease_until = null where lease_by <> $1"
