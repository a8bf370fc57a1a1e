import type { Logger } from "@svc/http"
import { CompilerBusy } from "../../compiler/compiler.ts"
import { coalesce } from "../../db/coalesce.ts"
import type { Database, Orm } from "../../db/database.ts"
import { DatabaseUnavailable } from "../../db/errors.ts"
import type { JobOutcome, Metrics } from "../../metrics.ts"
import {
  claimSql,
  holdJob,
  type Job,
  type JobKind,
  mostClaims,
  releaseAllSql,
  releaseSql,
  renewSql,
  restJob,
  wakeParkedSql,
  workChannel,
} from "./jobs.ts"
import { Needed } from "./needed.ts"

/** Somebody else has the job now, or it is gone: nothing more is to be done here. */
class LeaseLost extends Error {
  override readonly name = "LeaseLost"
}

/** What a step may do: a transaction that holds only as long as the job is in this worker's hand. */
export type InStep = <T>(work: (tx: Orm) => Promise<T>) => Promise<T>

/** Performs one step of a job. `again`: the next step can follow at once. */
type Step = (job: Job, inStep: InStep) => Promise<"again" | "rest">

export type JobHandler = {
  readonly step: Step
  readonly fail: (job: Job, inStep: InStep, reason: string) => Promise<void>
}

export type Handlers = Readonly<Record<JobKind, JobHandler>>

/** Does one step. What it needs is made between its transactions. */
const stepOf = async (step: Step, job: Job, inStep: InStep): Promise<"again" | "rest"> => {
  try {
    return await step(job, inStep)
  } catch (error) {
    if (!(error instanceof Needed)) throw error
    await error.make()
    return "again"
  }
}

const failedHere = "internal-error: the platform failed; its log says how"
const givenUp = `given-up: ${mostClaims} times it ended the process that worked on it, or took all the time that a step has`
const pollMs = 1000
const busyMs = 500
const renewMs = 4000
const stepMs = 20_000
const slots = 3

/**
 * Takes records through their states, beside the requests. Who has a record in hand holds a lease on it: what a killed
 * process had goes on when that has run out.
 * @param alone whether no other process can use the database: then leases found at the start are of the dead
 */
export const startWorker = ({
  database,
  handlers,
  log,
  holder,
  alone,
  now,
  onDone,
}: {
  readonly database: Database
  readonly handlers: Handlers
  readonly log: Logger
  readonly holder: string
  readonly alone: boolean
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly onDone: Metrics["jobDone"]
}) => {
  const running = new Set<Promise<void>>()
  const unreleased = new Set<readonly unknown[]>()
  const stopping = new AbortController()
  let begun = false

  const inStepOf =
    (job: Job): InStep =>
    (work) =>
      database.within(stepMs).transaction(async (tx) => {
        // Until the commit nobody can take the job over.
        if (!(await holdJob(tx, job, holder))) throw new LeaseLost()
        return work(tx)
      })

  const take = async (job: Job): Promise<JobOutcome> => {
    const { step, fail } = handlers[job.kind]
    const inStep = inStepOf(job)
    try {
      if (job.claims > mostClaims) {
        log.error({ job: `${job.kind} ${job.id}` }, "a job is given up")
        await fail(job, inStep, givenUp)
        return "failed"
      }
      while (!stopping.signal.aborted && (await stepOf(step, job, inStep)) === "again");
      return "ok"
    } catch (error) {
      if (error instanceof CompilerBusy) {
        await inStep((tx) => restJob(tx, job, busyMs)).catch(() => {})
        return "ok"
      }
      if (error instanceof LeaseLost) return "lost"
      if (error instanceof DatabaseUnavailable) return "unavailable"
      log.error(
        { job: `${job.kind} ${job.id}`, stack: error instanceof Error ? error.stack : String(error) },
        "a step failed",
      )
      await fail(job, inStep, failedHere).catch(() => {})
      return "failed"
    }
  }

  const work = async (job: Job): Promise<void> => {
    const began = now()
    const outcome = await take(job)
    const ms = now() - began
    onDone(job.kind, outcome, ms / 1000)
    if (outcome === "lost") return
    // That the database went away is not the job's fault, unless the job took all the time there is.
    const forgiven = outcome === "unavailable" && ms >= stepMs ? 0 : 1
    await release([job.kind, job.id, holder, forgiven])
  }

  /** Lets go of a job. What fails is tried again before the next one is taken; else the lease runs out by itself. */
  const release = async (params: readonly unknown[]): Promise<void> => {
    try {
      await database.within(stepMs).query(releaseSql, params)
      unreleased.delete(params)
    } catch {
      unreleased.add(params)
    }
  }

  const takeAll = async (): Promise<void> => {
    if (!begun) {
      if (alone) await database.within(stepMs).query(releaseAllSql, [holder])
      await database.within(stepMs).query(wakeParkedSql, ["build"])
      begun = true
    }
    for (const params of unreleased) await release(params)
    while (!stopping.signal.aborted && running.size < slots) {
      const [job] = await database.within(stepMs).query<Job>(claimSql, [holder])
      if (job === undefined) return
      const done = work(job).finally(() => {
        running.delete(done)
        kick()
      })
      running.add(done)
    }
  }

  // An outage is told by those who serve; the next poll tries again.
  const claim = coalesce(() => takeAll().catch(() => {}))
  const kick = (): void => {
    if (!stopping.signal.aborted) void claim()
  }

  database.listen(workChannel, kick)
  const poll = setInterval(kick, pollMs)
  const renew = setInterval(() => {
    if (running.size > 0)
      database
        .within(renewMs)
        .query(renewSql, [holder])
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
