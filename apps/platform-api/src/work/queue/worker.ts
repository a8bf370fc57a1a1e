// The worker of background jobs, and what steps throw to tell it how to go on.
import { LRUCache } from "lru-cache"
import { AstTooLarge } from "../../registry/ast/document-fault.ts"
import { StackConflict } from "../../registry/publication.ts"
import { CompilerBusy } from "../../compiler/compiler.ts"
import { coalesce } from "../../coalesce.ts"
import type { Orm } from "../../db/database.ts"
import { DatabaseUnavailable, OutcomeUnknown } from "../../db/errors.ts"
import type { Dependencies } from "../../dependencies.ts"
import type { JobOutcome, Metrics } from "../../metrics.ts"
import * as jobs from "./jobs.ts"

/** Why a build or an operation can't go on. The owner sees the message. */
export class WorkFailure extends Error {
  override readonly name = "WorkFailure"
}

/** The reason that a job's owner should see. Other errors are the platform's own. */
const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof StackConflict) return `${error.code}: ${error.message}`
  if (error instanceof AstTooLarge) return `invalid-ast: ${error.message}`
  return error instanceof WorkFailure ? error.message : undefined
}

/** Slow work that a step needs. It is done outside the step's transaction, and then the step starts again. */
export class Needed extends Error {
  override readonly name = "Needed"
  readonly make: () => Promise<void>

  constructor(make: () => Promise<void>) {
    super("a step needs what is made outside its transaction")
    this.make = make
  }
}

// Small results that several steps of one record need.
const kept = 256

/**
 * Results by key, which never change. A missing one throws Needed, or once AstTooLarge: that can also mean that the machine was
 * busy, so it isn't kept.
 */
export const createNeeds = <T extends object>() => {
  const known = new LRUCache<string, T | AstTooLarge>({ max: kept })
  return (key: string, make: () => Promise<T>): T => {
    const found = known.get(key)
    if (found instanceof AstTooLarge) {
      known.delete(key)
      throw found
    }
    if (found !== undefined) return found
    throw new Needed(async () => {
      try {
        known.set(key, await make())
      } catch (error) {
        if (!(error instanceof AstTooLarge)) throw error
        known.set(key, error)
      }
    })
  }
}

/** Another worker has the job now, or it is gone. */
class LeaseLost extends Error {
  override readonly name = "LeaseLost"
}

/** Runs a transaction that only commits while this worker holds the job. */
export type InStep = <T>(work: (tx: Orm) => Promise<T>) => Promise<T>

/** Of a step. `again`: the next one can follow at once. */
export type Outcome = "again" | "rest"

type JobHandler = {
  readonly step: (job: jobs.Job, inStep: InStep) => Promise<Outcome>
  readonly fail: (job: jobs.Job, inStep: InStep, reason: string) => Promise<void>
}

export type Handlers = Readonly<Record<jobs.JobKind, JobHandler>>

/** A job to release, and the number of its claims that don't count against it. */
type Release = { readonly job: jobs.Job; readonly forgiven: number }

/** Runs one step, does the slow work it needs between its transactions, and ends a job that can't go on. */
const runStep = async ({ step, fail }: JobHandler, job: jobs.Job, inStep: InStep): Promise<Outcome> => {
  try {
    return await step(job, inStep)
  } catch (error) {
    if (error instanceof Needed) {
      await error.make()
      return "again"
    }
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    await fail(job, inStep, reason)
    return "rest"
  }
}

const keyOf = ({ kind, id }: jobs.Job): string => `${kind} ${id}`

const failedHere = "internal-error: the platform failed; its log has the details"
const givenUp = `given-up: it crashed its process or ran out of time ${jobs.mostClaims} times`
const pollMs = 1000
const busyMs = 500
const renewMs = 4000
export const stepMs = 20_000
const slots = 3

/**
 * Processes jobs in the background. A worker holds a lease on each job. When a process dies, its jobs continue after
 * their leases expire.
 * @param alone whether no other process can use the database, so that old leases belong to dead processes
 */
export const startWorker = ({
  database,
  handlers,
  log,
  holder,
  alone,
  now,
  onDone,
}: Pick<Dependencies, "database" | "log" | "now"> & {
  readonly handlers: Handlers
  readonly holder: string
  readonly alone: boolean
  readonly onDone: Metrics["jobDone"]
}) => {
  const running = new Set<Promise<void>>()
  const held = new Set<string>()
  const unreleased = new Set<Release>()
  const stopping = new AbortController()
  let begun = false

  const inStepOf =
    (job: jobs.Job): InStep =>
    (work) =>
      database.within(stepMs).transaction(async (tx) => {
        // The lock lasts until the commit, so nobody can claim the job meanwhile.
        if (!(await jobs.holdJob(tx, job, holder))) throw new LeaseLost()
        return work(tx)
      })

  const take = async (job: jobs.Job): Promise<JobOutcome> => {
    const handler = handlers[job.kind]
    const inStep = inStepOf(job)
    try {
      if (job.claims > jobs.mostClaims) {
        log.error({ job: keyOf(job) }, "a job is given up")
        await handler.fail(job, inStep, givenUp)
        return "failed"
      }
      while (!stopping.signal.aborted && (await runStep(handler, job, inStep)) === "again");
      return "ok"
    } catch (error) {
      if (error instanceof CompilerBusy) {
        await inStep((tx) => jobs.restJob(tx, job, busyMs)).catch(() => {})
        return "ok"
      }
      if (error instanceof LeaseLost) return "lost"
      // Every step can be repeated, so it doesn't matter whether a commit without a response was made.
      if (error instanceof DatabaseUnavailable || error instanceof OutcomeUnknown) return "unavailable"
      log.error({ job: keyOf(job), stack: error instanceof Error ? error.stack : String(error) }, "a step failed")
      await handler.fail(job, inStep, failedHere).catch(() => {})
      return "failed"
    }
  }

  const work = async (job: jobs.Job): Promise<void> => {
    const began = now()
    held.add(keyOf(job))
    const outcome = await take(job)
    held.delete(keyOf(job))
    const ms = now() - began
    onDone(job.kind, outcome, ms / 1000)
    if (outcome === "lost") return
    // An outage isn't the job's fault, unless the job used up its whole time.
    const forgiven = outcome === "unavailable" && ms >= stepMs ? 0 : 1
    await release({ job, forgiven })
  }

  /** Releases a job. A failed release is retried before the next claim. Otherwise the lease expires. */
  const release = async (one: Release): Promise<void> => {
    try {
      await database.within(stepMs).run((db) => jobs.releaseJob(db, one.job, holder, one.forgiven))
      unreleased.delete(one)
    } catch {
      unreleased.add(one)
    }
  }

  const takeAll = async (): Promise<void> => {
    if (!begun) {
      if (alone) await database.within(stepMs).run((db) => jobs.releaseAll(db, holder))
      await database.within(stepMs).run((db) => jobs.wakeParked(db))
      begun = true
    }
    for (const one of unreleased) await release(one)
    while (!stopping.signal.aborted && running.size < slots) {
      const [job] = await database.within(stepMs).run((db) => jobs.claimJob(db, holder))
      if (job === undefined) return
      // Its lease ran out during a long step. The claim has renewed it.
      if (held.has(keyOf(job))) continue
      const done = work(job).finally(() => {
        running.delete(done)
        kick()
      })
      running.add(done)
    }
  }

  // Requests report outages. The next poll tries again.
  const claim = coalesce(() => takeAll().catch(() => {}))
  const kick = (): void => {
    if (!stopping.signal.aborted) void claim()
  }

  database.listen(jobs.workChannel, kick)
  const poll = setInterval(kick, pollMs)
  const renew = setInterval(() => {
    if (running.size > 0)
      database
        .within(renewMs)
        .run((db) => jobs.renewLeases(db, holder))
        .catch(() => {})
  }, renewMs)
  kick()
  return async (): Promise<void> => {
    stopping.abort()
    clearInterval(poll)
    await Promise.all(running)
    clearInterval(renew)
  }
}
