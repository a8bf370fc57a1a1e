import { type Compiler, diffOf, jobOwner } from "../../compiler/compiler.ts"
import type { MadeDiff } from "../../compiler/tasks.ts"
import type { Config } from "../../config.ts"
import type { Orm } from "../../db/database.ts"
import { ofVersion } from "../../records/spec-versions.ts"
import { createNeeds } from "../queue/worker.ts"
import { deploymentOf, type VersionRow, versionOf } from "../records.ts"
import type { Hook } from "./hook.ts"

export type Given = {
  readonly now: () => Date
  readonly config: Pick<Config, "streamUrlTemplate" | "publicStacks">
  readonly hook: Hook | undefined
  readonly compiler: Compiler
  /** A link to a version's AST that needs no key and is valid for an hour. */
  readonly astUrl: (versionId: number, at: Date) => string
}

/** Compares a version with the deployed one; undefined if nothing is deployed. */
const createServedDiff = (compiler: Compiler) => {
  const need = createNeeds<Pick<MadeDiff, "verdict" | "breaking">>()
  return async (tx: Orm, specId: number, version: VersionRow) => {
    const deployment = await deploymentOf(tx, specId)
    const served = deployment === undefined ? undefined : await versionOf(tx, deployment)
    if (deployment === undefined || served === undefined) return undefined
    return need(`${served.id} ${version.id}`, async () => {
      const about = { owner: jobOwner(deployment.ownerId) }
      const { verdict, breaking } = await diffOf(compiler, ofVersion(served), ofVersion(version), about)
      return { verdict, breaking }
    })
  }
}

/** What background work needs. */
export const createContext = (given: Given) => ({ ...given, diffToDeployed: createServedDiff(given.compiler) })

export type WorkContext = ReturnType<typeof createContext>
