import { promisify } from "node:util"
import { gunzipSync, gzip } from "node:zlib"
import type { Orm, Queries } from "../db/database.ts"
import { orm } from "../db/drizzle.ts"
import { specs, specVersions } from "../db/specs-schema.ts"
import { errors } from "../errors.ts"
import type { Ast } from "../registry/ast-shape.ts"
import { checkDerived } from "../registry/check-derived.ts"
import { contentHash } from "../registry/content-hash.ts"
import { deriveShape } from "../registry/derive-schema.ts"
import { diffSchemas, type SchemaDiff } from "../registry/diff.ts"

const { and, desc, eq, inArray } = orm
const compress = promisify(gzip)

/** An AST that was checked, with all that its row needs. Throws AstTooLarge. */
export const prepareVersion = async (ast: Ast) => ({
  ast,
  contentHash: contentHash(ast),
  schema: JSON.stringify(checkDerived(ast).schema),
  astGzip: await compress(JSON.stringify(ast)),
})

export type PreparedVersion = Awaited<ReturnType<typeof prepareVersion>>

/** The AST of a version, as it was taken. */
export const storedAst = (astGzip: Uint8Array): Ast => JSON.parse(gunzipSync(astGzip).toString()) as Ast

type Added = {
  readonly id: number
  readonly number: number
  readonly isNew: boolean
  readonly contentIsNew: boolean
  readonly diff: SchemaDiff | undefined
  /** What its owner said of it when it was added. */
  readonly message: string | null
}

/**
 * Adds a version to a spec whose row the transaction has locked; the latest version's content again adds none. Throws
 * limit-reached.
 */
export const addVersion = async (
  tx: Orm,
  spec: { readonly id: number; readonly entityName: string | null },
  prepared: PreparedVersion,
  { message, limit, at }: { readonly message: string | null; readonly limit: number; readonly at: Date },
): Promise<Added> => {
  const ofSpec = eq(specVersions.specId, spec.id)
  const [latest] = await tx.select().from(specVersions).where(ofSpec).orderBy(desc(specVersions.versionNumber)).limit(1)
  if (latest?.contentHash === prepared.contentHash) {
    const { id, versionNumber, message: told } = latest
    return { id, number: versionNumber, isNew: false, contentIsNew: false, diff: undefined, message: told }
  }
  const number = (latest?.versionNumber ?? 0) + 1
  if (number > limit)
    throw errors.fail("limit-reached", { message: `The spec has ${limit} versions, as SVC_VERSIONS_PER_SPEC allows.` })
  const { ast, ...bytes } = prepared
  const known = and(ofSpec, eq(specVersions.contentHash, prepared.contentHash))
  const [before] = await tx.select({ id: specVersions.id }).from(specVersions).where(known).limit(1)
  const [first] = ast.entities
  const entity = ast.entities.find(({ state_name }) => state_name === spec.entityName) ?? first
  if (entity === undefined) throw new Error("an AST has an entity")
  const [row] = await tx
    .insert(specVersions)
    .values({
      specId: spec.id,
      versionNumber: number,
      stateName: entity.state_name,
      programId: entity.program_id ?? null,
      handlerCount: entity.handlers?.length ?? 0,
      sectionCount: entity.sections.length,
      createdAt: at,
      message,
      ...bytes,
    })
    .returning({ id: specVersions.id })
  if (row === undefined) throw new Error("the version was not stored")
  if (spec.entityName === null)
    await tx.update(specs).set({ entityName: entity.state_name }).where(eq(specs.id, spec.id))
  const diff = latest === undefined ? undefined : diffSchemas(deriveShape(storedAst(latest.astGzip)), deriveShape(ast))
  return { id: row.id, number, isNew: true, contentIsNew: before === undefined, diff, message }
}

/** A spec's version numbers, newest first. */
export const numbersOf = async (queries: Queries, specId: number): Promise<readonly number[]> => {
  const statement = "select version_number as number from spec_versions where spec_id = $1 order by version_number desc"
  return (await queries.query<{ number: number }>(statement, [specId])).map(({ number }) => number)
}

/** The ASTs of a spec's versions with these numbers, where they are there. */
export const astOfVersions = async (
  queries: Queries,
  specId: number,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, Ast>> => {
  const rows = await queries.run((db) =>
    db
      .select({ number: specVersions.versionNumber, astGzip: specVersions.astGzip })
      .from(specVersions)
      .where(and(eq(specVersions.specId, specId), inArray(specVersions.versionNumber, [...numbers]))),
  )
  return new Map(rows.map(({ number, astGzip }) => [number, storedAst(astGzip)]))
}
