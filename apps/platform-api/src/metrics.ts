import type { Meter } from "@opentelemetry/api"
import { type LimitsMode, limitsModes } from "@svc/limits"
import { clientSpan, observeLimits } from "@svc/telemetry"
import { and, type Database, eq, isNotNull, isNull, orm, pg, type Queries } from "./db/database.ts"
import { DatabaseUnavailable } from "./db/errors.ts"
import * as schema from "./db/schema/index.ts"
import { countByState, type JobKind } from "./work/queue/jobs.ts"

export type Metrics = ReturnType<typeof createMetrics>

export const jobOutcomes = ["ok", "failed", "lost", "unavailable"] as const
export type JobOutcome = (typeof jobOutcomes)[number]

/** The service's instruments. Attributes come from short fixed lists, never from accounts, keys or addresses. */
export const createMetrics = (meter: Meter) => {
  const signups = meter.createCounter("svc.platform.signups", { description: "Agent accounts created." })
  const checks = meter.createCounter("svc.platform.key_checks", { description: "Keys looked up for requests." })
  // A counter that starts at its first event has no rate, so it starts at 0.
  signups.add(0)
  checks.add(0, { outcome: "ok" })
  const jobs = meter.createHistogram("svc.platform.job.duration", {
    unit: "s",
    description: "Time of one attempt at a build, a run, a deployment or a notice, from its claim to its release.",
    advice: { explicitBucketBoundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] },
  })
  return {
    signedUp: (): void => signups.add(1),
    /** @param outcome `ok`, or the error code of the response */
    keyChecked: (outcome: string): void => checks.add(1, { outcome }),
    /** One attempt at a job, from claim to release. */
    jobDone: (kind: JobKind, outcome: JobOutcome, seconds: number): void => jobs.record(seconds, { kind, outcome }),
  }
}

export const jobStates = ["waiting", "running", "resting"] as const

const tables = Object.values(schema).filter((value) => orm.is(value, pg.PgTable))
/** Their names, as a PostgreSQL array. */
const tableNames = `{${tables.map((table) => orm.getTableName(table)).join()}}`

type TableSize = { readonly table: string; readonly rows: number; readonly bytes: number }

// SQL, because the builder doesn't know the catalog. What the server has counted since its last start, else the planner's estimate: an exact count would read every row.
const sizesSql = `
  select c.relname as table, coalesce(nullif(s.n_live_tup, 0), greatest(c.reltuples, 0))::float8 as rows,
    pg_total_relation_size(c.oid)::float8 as bytes
  from pg_class c left join pg_stat_user_tables s on s.relid = c.oid
  where c.relkind = 'r' and pg_table_is_visible(c.oid) and c.relname = any($1::text[])`

/**
 * Observes the state of the service whenever metrics are collected. What the database must be asked for is left out
 * while it is unavailable.
 */
export const observeState = (
  meter: Meter,
  {
    queries,
    connections,
    registryAgeMs,
    limitsMode,
  }: {
    /** Where the jobs of all replicas are counted, and tables are measured. */
    readonly queries: () => Queries
    readonly connections: () => number
    /** Time since the registry was last read. */
    readonly registryAgeMs: () => number
    readonly limitsMode: () => LimitsMode
  },
): void => {
  const gauge = (name: string, description: string, unit = "") =>
    meter.createObservableGauge(name, { description, unit })
  gauge("svc.platform.jobs", "Builds and other records that wait for processing.").addCallback(async (result) => {
    const counts = await queries()
      .run(countByState)
      .catch(() => undefined)
    if (counts === undefined) return
    for (const state of jobStates) result.observe(counts.find((one) => one.state === state)?.count ?? 0, { state })
  })
  gauge("svc.platform.disabled", "Disabled accounts and keys.").addCallback(async (result) => {
    const counts = await queries()
      .run(async (db) => ({
        agent: await db.$count(schema.agentProfiles, eq(schema.agentProfiles.status, "disabled")),
        key: await db.$count(
          schema.apiKeys,
          and(isNotNull(schema.apiKeys.disabledAt), isNull(schema.apiKeys.revokedAt)),
        ),
      }))
      .catch(() => ({}))
    for (const [kind, count] of Object.entries(counts)) result.observe(count, { kind })
  })
  const rows = gauge("svc.platform.rows", "Estimated rows of a table.")
  const bytes = gauge("svc.platform.table.size", "Size of a table with its indexes.", "By")
  meter.addBatchObservableCallback(
    async (result) => {
      for (const { table, ...size } of await queries()
        .query<TableSize>(sizesSql, [tableNames])
        .catch(() => [])) {
        result.observe(rows, size.rows, { table })
        result.observe(bytes, size.bytes, { table })
      }
    },
    [rows, bytes],
  )
  gauge("svc.platform.database.connections", "Open connections to the database.").addCallback((result) =>
    result.observe(connections()),
  )
  gauge("svc.platform.registry.age", "Time since the registry was last read.", "s").addCallback((result) =>
    result.observe(registryAgeMs() / 1000),
  )
  observeLimits(meter, limitsModes, limitsMode)
}

/** The same database, with a span and a duration for each request to it. */
export const measureDatabase = (database: Database, meter: Meter): Database => {
  const duration = meter.createHistogram("svc.platform.database.duration", {
    unit: "s",
    description: "Time of a database request, including the wait for a connection.",
    advice: { explicitBucketBoundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5] },
  })
  const measured = async <T>(operation: string, work: () => Promise<T>): Promise<T> => {
    const began = performance.now()
    let outcome = "ok"
    try {
      return await clientSpan(`database ${operation}`, { "db.system.name": "postgresql" }, work)
    } catch (error) {
      outcome = error instanceof DatabaseUnavailable ? "unavailable" : "refused"
      throw error
    } finally {
      duration.record((performance.now() - began) / 1000, { operation, outcome })
    }
  }
  const within = (ms: number): Queries => {
    const queries = database.within(ms)
    return {
      query: (text, params) => measured("query", () => queries.query(text, params)),
      run: (work) => measured("run", () => queries.run(work)),
      transaction: (work, queue) => measured("transaction", () => queries.transaction(work, queue)),
    }
  }
  return { ...database, within }
}
