import type { PgTable } from "drizzle-orm/pg-core"
import type { Orm } from "../../db/database.ts"
import { sql } from "../../db/drizzle.ts"
import * as tables from "../../db/schema/index.ts"
import { normaliseWebsocketUrl } from "../../registry/websocket-url.ts"
import type { Checked } from "./check-document.ts"
import { makeSpecSlug, streamUrlBelow } from "../names.ts"

type ImportOptions = {
  readonly at: Date
  readonly randomBytes: (size: number) => Uint8Array
  readonly streamUrl: string
  readonly ownerId: number
  /** Accounts that can also read the records. */
  readonly viewers: readonly number[]
}

// Keeps a statement below PostgreSQL's 65,535 parameters.
const rowsAtOnce = 1000

/** Reserves ascending ids, so that references can be written at once. */
const takeIds = async (tx: Orm, table: string, count: number): Promise<readonly number[]> => {
  const next = sql<number>`nextval(${`${table}_id_seq`}::regclass)::integer`
  return (await tx.select({ id: next }).from(sql`generate_series(1, ${count}::integer)`)).map(({ id }) => id)
}

/** For values that checkDocument guarantees. */
const taken = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error("a checked document has an invalid reference")
  return value
}

type Camel<S> = S extends `${infer Word}_${infer Rest}` ? `${Word}${Capitalize<Camel<Rest>>}` : S

/** A record's fields, named like the columns of its table. Drizzle leaves out fields without a column. */
const columnsOf = <T extends object>(fields: T) => {
  const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  const named = Object.entries(fields).map(([name, value]): [string, unknown] => [camel(name), value])
  return Object.fromEntries(named) as { readonly [K in keyof T as Camel<K & string>]: T[K] }
}

/** Inserts a checked document's records. Triggers derive their status from the events. */
export const insertRecords = async (tx: Orm, { document, versions, attempts }: Checked, options: ImportOptions) => {
  const { at, ownerId, viewers, streamUrl, randomBytes } = options

  const insertAll = async <T extends PgTable>(table: T, rows: readonly T["$inferInsert"][]): Promise<void> => {
    for (let start = 0; start < rows.length; start += rowsAtOnce) {
      const some = rows.slice(start, start + rowsAtOnce)
      await tx.insert(table).overridingSystemValue().values(some)
    }
  }
  const idsOf = async (kind: "specs" | "builds" | "deployments" | "runs"): Promise<ReadonlyMap<string, number>> => {
    const ids = await takeIds(tx, kind, document[kind].length)
    return new Map(document[kind].map(({ ref }, index) => [ref, taken(ids[index])]))
  }
  const ids = {
    specs: await idsOf("specs"),
    builds: await idsOf("builds"),
    deployments: await idsOf("deployments"),
    runs: await idsOf("runs"),
  }
  const idOf = (kind: keyof typeof ids, ref: string): number => taken(ids[kind].get(ref))
  const maybeId = (kind: keyof typeof ids, ref: string | null) => (ref === null ? null : idOf(kind, ref))

  const urlOf = ({ websocket_url: url }: { readonly websocket_url: string | null }): string | null =>
    url === null ? null : (normaliseWebsocketUrl(url) ?? null)

  const specs = document.specs.map((spec) => ({
    ...columnsOf(spec),
    id: idOf("specs", spec.ref),
    ownerId,
    urlSlug: spec.url_slug ?? makeSpecSlug(spec.name, randomBytes),
    websocketUrl: urlOf(spec),
    latestVersion: 0,
    createdAt: at,
    updatedAt: at,
  }))
  const specById = new Map(specs.map((spec) => [spec.id, spec]))
  await insertAll(tables.specs, specs)

  const versionRows = document.specs.flatMap(({ ref }) =>
    taken(versions.get(ref)).map((version, index) =>
      Object.assign(version, { specId: idOf("specs", ref), versionNumber: index + 1, createdAt: at }),
    ),
  )
  const versionIds = await takeIds(tx, "spec_versions", versionRows.length)
  const numbered = versionRows.map((row, index) => Object.assign(row, { id: taken(versionIds[index]) }))
  const versionId = new Map(numbered.map(({ id, specId, versionNumber }) => [`${specId} ${versionNumber}`, id]))
  await insertAll(tables.specVersions, numbered)

  const builds = document.builds.map((build) => {
    const specId = idOf("specs", build.spec)
    return {
      ...columnsOf(build),
      id: idOf("builds", build.ref),
      ownerId,
      specId,
      specVersionId: build.version === null ? null : taken(versionId.get(`${specId} ${build.version}`)),
      status: "pending" as const,
      websocketUrl: urlOf(build),
    }
  })
  const buildById = new Map(builds.map((build) => [build.id, build]))
  await insertAll(tables.builds, builds)
  await insertAll(
    tables.buildEvents,
    document.builds.flatMap(({ ref, events }) =>
      events.map((event) => ({ ...columnsOf(event), buildId: idOf("builds", ref), createdAt: event.at })),
    ),
  )

  await insertAll(
    tables.deployments,
    document.deployments.map(({ ref, spec: specRef, build: buildRef, branch }) => {
      const spec = taken(specById.get(idOf("specs", specRef)))
      const currentBuildId = maybeId("builds", buildRef)
      const build = currentBuildId === null ? undefined : buildById.get(currentBuildId)
      const websocketUrl = build?.websocketUrl ?? spec.websocketUrl ?? streamUrlBelow(streamUrl, spec.urlSlug, branch)
      return { id: idOf("deployments", ref), ownerId, specId: spec.id, branch, websocketUrl, currentBuildId }
    }),
  )
  await insertAll(
    tables.deploymentEvents,
    document.deployments.flatMap(({ ref, build, events }) => {
      const same = { deploymentId: idOf("deployments", ref), buildId: maybeId("builds", build) }
      return events.map((event) => ({ ...columnsOf(event), ...same, createdAt: event.at }))
    }),
  )

  await insertAll(
    tables.runs,
    document.runs.map((run) => ({
      ...columnsOf(run),
      id: idOf("runs", run.ref),
      ownerId,
      status: "queued" as const,
      specId: maybeId("specs", run.spec),
      deploymentId: maybeId("deployments", run.deployment),
      attempt: taken(attempts.get(run.ref)),
      retryOfId: maybeId("runs", run.retry_of),
    })),
  )
  await insertAll(
    tables.runEvents,
    document.runs.flatMap(({ ref, events }) =>
      events.map((event) => ({ ...columnsOf(event), runId: idOf("runs", ref), createdAt: event.at })),
    ),
  )
  await insertAll(
    tables.runSteps,
    document.runs.flatMap(({ ref, steps }) =>
      steps.map((step, position) => ({ ...columnsOf(step), runId: idOf("runs", ref), position })),
    ),
  )

  const shares = [
    [tables.specShares, ids.specs],
    [tables.buildShares, ids.builds],
    [tables.deploymentShares, ids.deployments],
    [tables.runShares, ids.runs],
  ] as const
  for (const [table, records] of shares) {
    const rows = viewers.flatMap((userId) => [...records.values()].map((recordId) => ({ userId, recordId })))
    await insertAll(table, rows)
  }
  return {
    specs: Object.fromEntries(ids.specs),
    builds: Object.fromEntries(ids.builds),
    deployments: Object.fromEntries(ids.deployments),
    runs: Object.fromEntries(ids.runs),
  }
}
