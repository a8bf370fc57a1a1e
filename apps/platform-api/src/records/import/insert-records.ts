import { gzipSync } from "node:zlib"
import type { PgTable } from "drizzle-orm/pg-core"
import type { Orm } from "../../db/database.ts"
import { sql } from "../../db/drizzle.ts"
import * as deploymentTables from "../../db/schema/deployments.ts"
import * as runTables from "../../db/schema/runs.ts"
import * as shareTables from "../../db/schema/shares.ts"
import * as specTables from "../../db/schema/specs.ts"
import { contentHash } from "../../registry/ast/content-hash.ts"
import { deriveSchema } from "../../registry/schema/derive-schema.ts"
import { normaliseWebsocketUrl } from "../../registry/websocket-url.ts"
import type { Checked } from "./check-document.ts"
import { makeSpecSlug, streamUrl } from "../names.ts"

const tables = { ...specTables, ...deploymentTables, ...runTables, ...shareTables }

type ImportOptions = {
  readonly at: Date
  readonly randomBytes: (size: number) => Uint8Array
  readonly relayUrl: string
  readonly ownerId: number
  /** Accounts that can also read the records. */
  readonly viewers: readonly number[]
}

type Ids = ReadonlyMap<string, number>

// Keeps a statement below PostgreSQL's 65,535 parameters.
const rowsAtOnce = 1000

const insertAll = async <T extends PgTable>(tx: Orm, table: T, rows: readonly T["$inferInsert"][]): Promise<void> => {
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    await tx
      .insert(table)
      .overridingSystemValue()
      .values(rows.slice(start, start + rowsAtOnce))
  }
}

/** Reserves ascending ids, so that references can be written at once. */
const takeIds = async (tx: Orm, sequence: string, count: number): Promise<readonly number[]> => {
  const next = sql<number>`nextval(${sequence}::regclass)::integer`
  return (await tx.select({ id: next }).from(sql`generate_series(1, ${count}::integer)`)).map(({ id }) => id)
}

const idsByRef = async (tx: Orm, sequence: string, records: readonly { readonly ref: string }[]): Promise<Ids> => {
  const ids = await takeIds(tx, sequence, records.length)
  return new Map(records.map(({ ref }, index) => [ref, taken(ids[index])]))
}

/** For values that checkDocument guarantees. */
const taken = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error("a checked document has an invalid reference")
  return value
}

const normalised = (url: string | null): string | null => (url === null ? null : (normaliseWebsocketUrl(url) ?? null))

/** Inserts a checked document's records. Triggers derive their status from the events. */
export const insertRecords = async (tx: Orm, { document, versions, attempts }: Checked, options: ImportOptions) => {
  const { at, ownerId } = options
  const specIds = await idsByRef(tx, "specs_id_seq", document.specs)
  const buildIds = await idsByRef(tx, "builds_id_seq", document.builds)
  const deploymentIds = await idsByRef(tx, "deployments_id_seq", document.deployments)
  const runIds = await idsByRef(tx, "runs_id_seq", document.runs)
  const idIn = (ids: Ids, ref: string): number => taken(ids.get(ref))
  const maybeIn = (ids: Ids, ref: string | null): number | null => (ref === null ? null : idIn(ids, ref))

  const specs = document.specs.map((spec) => ({
    id: idIn(specIds, spec.ref),
    ownerId,
    name: spec.name,
    entityName: spec.entity_name,
    description: spec.description,
    urlSlug: spec.url_slug ?? makeSpecSlug(spec.name, options.randomBytes),
    websocketUrl: normalised(spec.websocket_url),
    latestVersion: 0,
    createdAt: at,
    updatedAt: at,
  }))
  const specById = new Map(specs.map((spec) => [spec.id, spec]))
  await insertAll(tx, tables.specs, specs)

  const versionRows = document.specs.flatMap((spec) =>
    taken(versions.get(spec.ref)).map(({ ast, entity }, index) => ({
      specId: idIn(specIds, spec.ref),
      versionNumber: index + 1,
      contentHash: contentHash(ast),
      stateName: entity.state_name,
      programId: entity.program_id ?? null,
      handlerCount: entity.handlers?.length ?? 0,
      sectionCount: entity.sections.length,
      createdAt: at,
      schema: JSON.stringify(deriveSchema(ast)),
      astGzip: gzipSync(JSON.stringify(ast)),
    })),
  )
  const versionIds = await takeIds(tx, "spec_versions_id_seq", versionRows.length)
  const numbered = versionRows.map((row, index) => Object.assign(row, { id: taken(versionIds[index]) }))
  const versionId = new Map(numbered.map(({ id, specId, versionNumber }) => [`${specId} ${versionNumber}`, id]))
  await insertAll(tx, tables.specVersions, numbered)

  const builds = document.builds.map((build) => {
    const specId = idIn(specIds, build.spec)
    return {
      id: idIn(buildIds, build.ref),
      ownerId,
      specId,
      specVersionId: build.version === null ? null : taken(versionId.get(`${specId} ${build.version}`)),
      branch: build.branch,
      status: "pending",
      progress: build.progress,
      statusMessage: build.status_message,
      websocketUrl: normalised(build.websocket_url),
      createdAt: build.created_at,
    }
  })
  const buildById = new Map(builds.map((build) => [build.id, build]))
  await insertAll(tx, tables.builds, builds)
  await insertAll(
    tx,
    tables.buildEvents,
    document.builds.flatMap(({ ref, events }) =>
      events.map((event) => ({
        buildId: idIn(buildIds, ref),
        eventType: event.event_type,
        phase: event.phase,
        newStatus: event.new_status,
        createdAt: event.at,
      })),
    ),
  )

  await insertAll(
    tx,
    tables.deployments,
    document.deployments.map((deployment) => {
      const spec = taken(specById.get(idIn(specIds, deployment.spec)))
      const currentBuildId = maybeIn(buildIds, deployment.build)
      const build = currentBuildId === null ? undefined : buildById.get(currentBuildId)
      return {
        id: idIn(deploymentIds, deployment.ref),
        ownerId,
        specId: spec.id,
        branch: deployment.branch,
        websocketUrl:
          build?.websocketUrl ?? spec.websocketUrl ?? streamUrl(options.relayUrl, spec.urlSlug, deployment.branch),
        currentBuildId,
      }
    }),
  )
  await insertAll(
    tx,
    tables.deploymentEvents,
    document.deployments.flatMap(({ ref, build, events }) =>
      events.map((event) => ({
        deploymentId: idIn(deploymentIds, ref),
        eventType: event.event_type,
        newStatus: event.new_status,
        buildId: maybeIn(buildIds, build),
        message: event.message,
        actor: event.actor,
        createdAt: event.at,
      })),
    ),
  )

  await insertAll(
    tx,
    tables.runs,
    document.runs.map((run) => ({
      id: idIn(runIds, run.ref),
      ownerId,
      workflow: run.workflow,
      status: "queued",
      trigger: run.trigger,
      specId: maybeIn(specIds, run.spec),
      deploymentId: maybeIn(deploymentIds, run.deployment),
      attempt: taken(attempts.get(run.ref)),
      retryOfId: maybeIn(runIds, run.retry_of),
      errorCode: run.error_code,
      errorMessage: run.error_message,
      createdAt: run.created_at,
    })),
  )
  await insertAll(
    tx,
    tables.runEvents,
    document.runs.flatMap(({ ref, events }) =>
      events.map((event) => ({ runId: idIn(runIds, ref), newStatus: event.new_status, createdAt: event.at })),
    ),
  )
  await insertAll(
    tx,
    tables.runSteps,
    document.runs.flatMap(({ ref, steps }) =>
      steps.map((step, position) => ({
        runId: idIn(runIds, ref),
        position,
        name: step.name,
        status: step.status,
        startedAt: step.started_at,
        completedAt: step.completed_at,
        errorMessage: step.error_message,
      })),
    ),
  )

  const shared = (ids: Ids) =>
    options.viewers.flatMap((userId) => [...ids.values()].map((recordId) => ({ userId, recordId })))
  await insertAll(tx, tables.specShares, shared(specIds))
  await insertAll(tx, tables.buildShares, shared(buildIds))
  await insertAll(tx, tables.deploymentShares, shared(deploymentIds))
  await insertAll(tx, tables.runShares, shared(runIds))
  return {
    specs: Object.fromEntries(specIds),
    builds: Object.fromEntries(buildIds),
    deployments: Object.fromEntries(deploymentIds),
    runs: Object.fromEntries(runIds),
  }
}
