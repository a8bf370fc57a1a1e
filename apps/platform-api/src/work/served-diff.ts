import { createMemo } from "@svc/common/memo"
import type { Orm } from "../db/database.ts"
import { storedAst } from "../records/spec-versions.ts"
import { deriveShape } from "../registry/derive-schema.ts"
import { diffSchemas, type SchemaDiff } from "../registry/diff.ts"
import { deploymentOf, type VersionRow, versionOf } from "./records.ts"

// A run asks for the same one at several steps. One with more changes than these takes more memory than time.
const kept = { maxEntries: 8, maxSize: 2000, sizeOf: ({ changes }: SchemaDiff) => changes.length }

/** Finds out what a branch's readers would notice of a version; undefined where nothing is deployed there. */
export const createServedDiff = () => {
  // Versions never change.
  const diffs = createMemo<SchemaDiff>(kept)
  const shapeOf = ({ astGzip }: VersionRow) => deriveShape(storedAst(astGzip))
  return async (
    tx: Orm,
    specId: number,
    branch: string | null,
    version: VersionRow,
  ): Promise<SchemaDiff | undefined> => {
    const deployment = await deploymentOf(tx, specId, branch)
    const served = deployment === undefined ? undefined : await versionOf(tx, deployment)
    if (served === undefined) return undefined
    const key = `${served.id} ${version.id}`
    return diffs.get(key) ?? diffs.set(key, diffSchemas(shapeOf(served), shapeOf(version)))
  }
}

export type ServedDiff = ReturnType<typeof createServedDiff>

const told = 5

/** The first changes that break readers, in a line. */
export const breakingText = ({ changes }: SchemaDiff): string => {
  const texts = changes.filter(({ breaking }) => breaking).map(({ text }) => text)
  return texts.slice(0, told).join("; ") + (texts.length > told ? `, and ${texts.length - told} more` : "")
}
