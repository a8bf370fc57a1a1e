import { type Orm, orm, pg, sql } from "../../db/database.ts"
import { builds, deployments, jobs, stackNames } from "../../db/schema/index.ts"

const { and, asc, count, desc, eq, isNotNull, isNull, lt, lte, ne, or } = orm

export type JobKind = (typeof jobs.$inferSelect)["kind"]

/** A record to process, claimed by one worker. */
export type Job = Awaited<ReturnType<typeof claimJob>>[number]

/** A job that ended its process or used up its time this often will do so again. */
export const mostClaims = 3

/** The channel on which workers are told about new jobs. */
export const workChannel = "svc_work"

const leaseSeconds = 15

// The database's clock decides, because replicas' clocks differ. Each statement has its own time: the transaction's is
// from before it waited for a lock.
const now = sql`statement_timestamp()`
const leaseEnd = sql`${now} + make_interval(secs => ${leaseSeconds})`
const isFree = or(isNull(jobs.leaseUntil), lt(jobs.leaseUntil, now))
const noLease = { leaseBy: null, leaseUntil: null }

const tell = (tx: Orm) => tx.execute(sql`select pg_notify(${workChannel}, '')`)

const isJob = (kind: JobKind, id: number) => and(eq(jobs.kind, kind), eq(jobs.recordId, id))

// Every transaction locks in the same order to avoid deadlocks: the account and the spec (requests only), jobs of runs, jobs of their
// builds, then the records, the registry and notices.

/** Locks the jobs of a spec that the transaction has locked. Workers start no step of them until it ends. */
export const lockJobsOf = (tx: Orm, specId: number) =>
  tx
    .select({ id: jobs.recordId })
    .from(jobs)
    .where(and(eq(jobs.specId, specId), ne(jobs.kind, "notice")))
    .orderBy(desc(jobs.kind), asc(jobs.recordId))
    .for("update")

/** Locks the builds of whoever has a stack's name. */
export const lockBuildsOf = (tx: Orm, name: string) => {
  const owner = tx.select({ id: stackNames.ownerId }).from(stackNames).where(eq(stackNames.name, name))
  return tx
    .select({ id: jobs.recordId })
    .from(jobs)
    .where(and(eq(jobs.kind, "build"), eq(jobs.ownerId, owner)))
    .orderBy(asc(jobs.recordId))
    .for("update")
}

export const lockJob = (tx: Orm, kind: JobKind, id: number) =>
  tx.select({ id: jobs.recordId }).from(jobs).where(isJob(kind, id)).for("update")

/**
 * Locks a worker's job for one step, after the job of its run. Returns whether the worker still holds the lease. A
 * committed step resets the claims.
 */
export const holdJob = async (tx: Orm, { kind, id }: Pick<Job, "kind" | "id">, holder: string): Promise<boolean> => {
  if (kind === "build") {
    const run = tx.select({ id: builds.runId }).from(builds).where(eq(builds.id, id))
    const ofRun = and(eq(jobs.kind, "run"), eq(jobs.recordId, run))
    await tx.select({ id: jobs.recordId }).from(jobs).where(ofRun).for("update")
  }
  const isHeld = and(isJob(kind, id), eq(jobs.leaseBy, holder))
  return (await tx.update(jobs).set({ claims: 0 }).where(isHeld).returning({ id: jobs.recordId })).length > 0
}

/** Queues a job, as of the commit. */
export const addJob = async (tx: Orm, kind: JobKind, id: number, ownerId: number, specId: number): Promise<void> => {
  await tx
    .insert(jobs)
    .values({ kind, recordId: id, ownerId, specId, nextAt: now })
    .onConflictDoUpdate({
      target: [jobs.kind, jobs.recordId],
      set: { nextAt: now, attempts: 0, firstAttemptAt: null, claims: 0 },
    })
  await tell(tx)
}

/** Makes a run's job due now; null for a build of no run. */
export const wakeRun = async (tx: Orm, id: number | null): Promise<void> => {
  if (id === null) return
  await tx.update(jobs).set({ nextAt: now }).where(isJob("run", id))
  await tell(tx)
}

/**
 * Wakes the builds of an account or a spec that wait for approval, or all of them. Each checks again whether it is required.
 */
export const wakeParked = async (
  tx: Orm,
  { ownerId, specId }: { readonly ownerId?: number; readonly specId?: number } = {},
): Promise<void> => {
  const isParked = and(eq(jobs.kind, "build"), isNull(jobs.nextAt))
  const ofOwner = ownerId === undefined ? undefined : eq(jobs.ownerId, ownerId)
  const ofSpec = specId === undefined ? undefined : eq(jobs.specId, specId)
  await tx
    .update(jobs)
    .set({ nextAt: now })
    .where(and(isParked, ofOwner, ofSpec))
  await tell(tx)
}

/** Postpones a job by so many milliseconds; null waits until it is woken. */
export const restJob = (tx: Orm, { kind, id }: Pick<Job, "kind" | "id">, ms: number | null) =>
  tx
    .update(jobs)
    .set({ nextAt: ms === null ? null : sql`${now} + make_interval(secs => ${ms / 1000})`, ...noLease })
    .where(isJob(kind, id))

/** Postpones a job after a failed call of the deploy hook, and counts the call. */
export const restAfterCall = async (tx: Orm, job: Job, ms: number): Promise<void> => {
  const counted = { attempts: sql`${jobs.attempts} + 1`, firstAttemptAt: sql`coalesce(${jobs.firstAttemptAt}, ${now})` }
  await tx.update(jobs).set(counted).where(isJob(job.kind, job.id))
  await restJob(tx, job, ms)
}

/** Deletes a job, and tells workers, because others may wait for it. */
export const dropJob = async (tx: Orm, kind: JobKind, id: number): Promise<void> => {
  await tx.delete(jobs).where(isJob(kind, id))
  await tell(tx)
}

/** Whether a worker tells stream servers of this deployment now. */
export const isBeingTold = async (tx: Orm, id: number): Promise<boolean> =>
  (await tx.$count(jobs, and(isJob("notice", id), orm.gt(jobs.leaseUntil, now)))) > 0

/**
 * Drops what stream servers were to be told of deleted deployments with this name, before a new one has it. Returns false while
 * a worker tells them.
 */
export const dropNotices = async (tx: Orm, name: string): Promise<boolean> => {
  const { id, stackName, deletedAt } = deployments
  const deleted = tx
    .select({ id })
    .from(deployments)
    .where(and(eq(stackName, name), isNotNull(deletedAt)))
  const ofName = and(eq(jobs.kind, "notice"), orm.inArray(jobs.recordId, deleted))
  await tx.delete(jobs).where(and(ofName, isFree))
  return (await tx.$count(jobs, ofName)) === 0
}

/** Whether the spec has an earlier build that doesn't wait for approval. */
export const hasEarlierBuild = async (
  tx: Orm,
  { id, specId }: { readonly id: number; readonly specId: number },
): Promise<boolean> => {
  const isEarlier = and(eq(jobs.kind, "build"), eq(jobs.specId, specId), lt(jobs.recordId, id))
  return (await tx.$count(jobs, and(isEarlier, isNotNull(jobs.nextAt)))) > 0
}

export const countJobs = (tx: Orm, kind: JobKind, ownerId: number): Promise<number> =>
  tx.$count(jobs, and(eq(jobs.kind, kind), eq(jobs.ownerId, ownerId)))

/**
 * Claims the next job. Builds run one at a time per owner and runs one at a time per spec, in order. A build that waits
 * for approval doesn't block others.
 */
export const claimJob = (db: Orm, holder: string) => {
  const earlier = pg.alias(jobs, "earlier")
  const hasEarlier = (kind: JobKind, ...conditions: Parameters<typeof and>) => {
    const same = and(eq(earlier.kind, kind), lt(earlier.recordId, jobs.recordId), ...conditions)
    return and(eq(jobs.kind, kind), orm.exists(db.select({ id: earlier.recordId }).from(earlier).where(same)))
  }
  const isBlocked = or(
    hasEarlier("build", eq(earlier.ownerId, jobs.ownerId), isNotNull(earlier.nextAt)),
    hasEarlier("run", eq(earlier.specId, jobs.specId)),
  )
  const next = db.$with("next").as(
    db
      .select({ kind: jobs.kind, recordId: jobs.recordId })
      .from(jobs)
      .where(and(lte(jobs.nextAt, now), isFree, sql`not (${isBlocked})`))
      .orderBy(asc(jobs.nextAt), asc(jobs.recordId))
      .limit(1)
      .for("update", { skipLocked: true }),
  )
  return db
    .with(next)
    .update(jobs)
    .set({ leaseBy: holder, leaseUntil: leaseEnd, claims: sql`${jobs.claims} + 1` })
    .from(next)
    .where(and(eq(jobs.kind, next.kind), eq(jobs.recordId, next.recordId)))
    .returning({
      kind: jobs.kind,
      id: jobs.recordId,
      // How often it was claimed since it last completed a step, this time included.
      claims: jobs.claims,
      // Calls of the deploy hook so far, and the time since the first.
      attempts: jobs.attempts,
      age_ms: sql<number>`coalesce(extract(epoch from ${now} - ${jobs.firstAttemptAt}) * 1000, 0)::float8`,
    })
}

/** Renews a worker's leases. Jobs in a step are skipped. They are locked, so nobody can claim them. */
export const renewLeases = (db: Orm, holder: string) => {
  const held = db
    .$with("held")
    .as(
      db
        .select({ kind: jobs.kind, recordId: jobs.recordId })
        .from(jobs)
        .where(eq(jobs.leaseBy, holder))
        .for("update", { skipLocked: true }),
    )
  return db
    .with(held)
    .update(jobs)
    .set({ leaseUntil: leaseEnd })
    .from(held)
    .where(and(eq(jobs.kind, held.kind), eq(jobs.recordId, held.recordId)))
}

/** @param forgiven the number of claims that don't count against the job */
export const releaseJob = (db: Orm, { kind, id }: Pick<Job, "kind" | "id">, holder: string, forgiven: number) =>
  db
    .update(jobs)
    .set({ ...noLease, claims: sql`greatest(${jobs.claims} - ${forgiven}, 0)` })
    .where(and(isJob(kind, id), eq(jobs.leaseBy, holder)))

/** With exclusive use of the database, all leases belong to dead processes. */
export const releaseAll = (db: Orm, holder: string) => db.update(jobs).set(noLease).where(ne(jobs.leaseBy, holder))

/** Jobs by state: held by a worker, due, or waiting for a time or an event. */
export const countByState = (db: Orm) => {
  const state = sql<"running" | "waiting" | "resting">`
    case when ${jobs.leaseUntil} > ${now} then 'running' when ${jobs.nextAt} <= ${now} then 'waiting' else 'resting' end`
  return db.select({ state, count: count() }).from(jobs).groupBy(state)
}
