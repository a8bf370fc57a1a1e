import type { Orm } from "../db/database.ts"
import { storedAst } from "../records/spec-versions.ts"
import type { Ast } from "../registry/ast-shape.ts"
import { deriveShape } from "../registry/derive-schema.ts"
import { diffSchemas, type SchemaDiff } from "../registry/diff.ts"
import { deploymentOf, versionOf } from "./records.ts"

/** What a branch's readers would notice; undefined where nothing is deployed there. */
export const diffToDeployed = async (
  tx: Orm,
  specId: number,
  branch: string | null,
  ast: Ast,
): Promise<SchemaDiff | undefined> => {
  const deployment = await deploymentOf(tx, specId, branch)
  const served = deployment === undefined ? undefined : await versionOf(tx, deployment)
  return served === undefined ? undefined : diffSchemas(deriveShape(storedAst(served.astGzip)), deriveShape(ast))
}

const told = 5

/** The first changes that break readers, in a line. */
export const breakingText = ({ changes }: SchemaDiff): string => {
  const texts = changes.filter(({ breaking }) => breaking).map(({ text }) => text)
  return texts.slice(0, told).join("; ") + (texts.length > told ? `, and ${texts.length - told} more` : "")
}
