import { type Compiler, diffOf } from "../../compiler/compiler.ts"
import type { MadeDiff } from "../../compiler/tasks.ts"
import type { Orm } from "../../db/database.ts"
import { ofVersion } from "../../records/spec-versions.ts"
import { createNeeds } from "../queue/step-errors.ts"
import { deploymentOf, type VersionRow, versionOf } from "../records.ts"

/** Compares a version with the one deployed on its branch; undefined if nothing is deployed. */
export const createServedDiff = (compiler: Compiler) => {
  const need = createNeeds<Pick<MadeDiff, "verdict" | "breaking">>()
  return async (tx: Orm, specId: number, branch: string | null, version: VersionRow) => {
    const deployment = await deploymentOf(tx, specId, branch)
    const served = deployment === undefined ? undefined : await versionOf(tx, deployment)
    if (deployment === undefined || served === undefined) return undefined
    return need(`${served.id} ${version.id}`, async () => {
      const owner = `job:${deployment.ownerId}`
      const { verdict, breaking } = await diffOf(compiler, ofVersion(served), ofVersion(version), owner)
      return { verdict, breaking }
    })
  }
}

export type ServedDiff = ReturnType<typeof createServedDiff>
