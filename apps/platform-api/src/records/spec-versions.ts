import type { SQL } from "drizzle-orm"
import type { PreparedVersion } from "../compiler/tasks.ts"
import { and, desc, eq, inArray, ne, type Orm, type Queries, theRow } from "../db/database.ts"
import { builds, deploymentEvents, specs, specVersions } from "../db/schema/index.ts"
import { errors } from "../errors.ts"
import type { StoredAst } from "../registry/stack-bytes.ts"

/** Somebody added a version meanwhile, so the prepared comparison is out of date. */
export class VersionMoved extends Error {
  override readonly name = "VersionMoved"
}

const latestVersion = async (tx: Orm, specId: number) => {
  const { id, versionNumber, contentHash, message, astGzip } = specVersions
  const [latest] = await tx
    .select({ id, versionNumber, contentHash, message, astGzip })
    .from(specVersions)
    .where(eq(specVersions.specId, specId))
    .orderBy(desc(versionNumber))
    .limit(1)
  return latest
}

/** The same, if the spec exists and belongs to this person. */
export const latestOwnVersion = async (tx: Orm, ownerId: number, specId: number) => {
  const own = and(eq(specs.id, specId), eq(specs.ownerId, ownerId))
  const [spec] = await tx.select({ id: specs.id }).from(specs).where(own)
  return spec && latestVersion(tx, spec.id)
}

/**
 * Adds a version to a spec that the transaction has locked. The content of the latest version again adds none, and keeps the
 * message that it was added with. Throws limit-reached and VersionMoved.
 */
export const addVersion = async (
  tx: Orm,
  spec: { readonly id: number; readonly entityName: string | null },
  prepared: PreparedVersion,
  {
    message,
    limit,
    at,
    latest: expected,
  }: {
    readonly message: string | null
    readonly limit: number
    readonly at: Date
    /** The id of the version that it was compared with; null for none. */
    readonly latest?: number | null
  },
) => {
  const latest = await latestVersion(tx, spec.id)
  if (expected !== undefined && (latest?.id ?? null) !== expected) throw new VersionMoved()
  if (latest?.contentHash === prepared.contentHash) {
    const { id, versionNumber, message: told } = latest
    return { id, number: versionNumber, isNew: false, contentIsNew: false, message: told }
  }
  const number = (latest?.versionNumber ?? 0) + 1
  if (number > limit)
    throw errors.fail("limit-reached", {
      message: `The spec has ${limit} versions, the maximum (SVC_VERSIONS_PER_SPEC).`,
    })
  const { entities, ...bytes } = prepared
  const known = and(eq(specVersions.specId, spec.id), eq(specVersions.contentHash, prepared.contentHash))
  const [before] = await tx.select({ id: specVersions.id }).from(specVersions).where(known).limit(1)
  const entity = entities.find(({ stateName }) => stateName === spec.entityName) ?? entities[0]
  if (entity === undefined) throw new Error("an AST has an entity")
  const row = { specId: spec.id, versionNumber: number, ...entity, createdAt: at, message, ...bytes }
  const { id } = theRow(await tx.insert(specVersions).values(row).returning({ id: specVersions.id }))
  if (spec.entityName === null)
    await tx.update(specs).set({ entityName: entity.stateName }).where(eq(specs.id, spec.id))
  return { id, number, isNew: true, contentIsNew: before === undefined, message }
}

export const ofVersion = ({ astGzip }: { readonly astGzip: Uint8Array }): StoredAst => ({
  gzip: astGzip,
  isAnswer: false,
})

export const numbersOf = async (queries: Queries, specId: number): Promise<readonly number[]> => {
  const { versionNumber: number } = specVersions
  const rows = await queries.run((db) =>
    db.select({ number }).from(specVersions).where(eq(specVersions.specId, specId)).orderBy(desc(number)),
  )
  return rows.map((row) => row.number)
}

/** The ASTs of the given version numbers, as far as they exist. */
export const astOfVersions = async (
  queries: Queries,
  specId: number,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, StoredAst>> => {
  const rows = await queries.run((db) =>
    db
      .select({ number: specVersions.versionNumber, astGzip: specVersions.astGzip })
      .from(specVersions)
      .where(and(eq(specVersions.specId, specId), inArray(specVersions.versionNumber, [...numbers]))),
  )
  return new Map(rows.map(({ number, astGzip }) => [number, ofVersion({ astGzip })]))
}

/** The id of the latest version that meets the condition. Throws version-not-found. */
const versionWhere = async (tx: Orm, specId: number, condition: SQL | undefined): Promise<number> => {
  const [row] = await tx
    .select({ id: specVersions.id })
    .from(specVersions)
    .where(and(eq(specVersions.specId, specId), condition))
    .orderBy(desc(specVersions.versionNumber))
    .limit(1)
  if (row === undefined) throw errors.fail("version-not-found")
  return row.id
}

/** The version with this id, or the latest. Throws version-not-found. */
export const versionOrLatest = (tx: Orm, specId: number, id: number | undefined): Promise<number> =>
  versionWhere(tx, specId, id === undefined ? undefined : eq(specVersions.id, id))

/** The version with this number. Throws version-not-found. */
export const versionNumbered = (tx: Orm, specId: number, number: number): Promise<number> =>
  versionWhere(tx, specId, eq(specVersions.versionNumber, number))

/** The version that was deployed before the current one. Throws deployment-state. */
export const versionBefore = async (tx: Orm, deploymentId: number): Promise<number> => {
  const latest = (condition?: SQL) =>
    tx
      .select({ id: builds.specVersionId })
      .from(deploymentEvents)
      .innerJoin(builds, eq(builds.id, deploymentEvents.buildId))
      .where(and(eq(deploymentEvents.deploymentId, deploymentId), eq(deploymentEvents.newStatus, "active"), condition))
      .orderBy(desc(deploymentEvents.id))
      .limit(1)
  const [current] = await latest()
  const [previous] = current === undefined ? [] : await latest(ne(builds.specVersionId, current.id))
  if (previous === undefined)
    throw errors.fail("deployment-state", {
      message: "No other version was deployed before. Name the version to roll back to.",
    })
  return previous.id
}
