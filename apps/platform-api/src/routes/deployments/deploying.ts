// What the routes that publish a version share.
import type { Orm } from "../../db/database.ts"
import { errors } from "../../errors.ts"
import { branchFits, stackNameOf, streamUrlOf } from "../../records/stack-names.ts"
import { checkFree } from "../../registry/publication.ts"
import type { SpecRow } from "../../work/records.ts"

export const deployCodes = ["version-not-found", "stack-name-taken", "websocket-url-taken", "limit-reached"] as const

/** The branch in a body; null is production. Throws invalid-request. */
export const branchOf = (spec: SpecRow, given: string | null | undefined): string | null => {
  if (given == null) return null
  if (branchFits(spec.name, given)) return given
  const reason = "is too long: together with the spec's name it can have 61 characters"
  throw errors.fail("invalid-request", { details: { path: "branch", reason } })
}

/** Reports a taken name or URL at once. The build checks again. Throws StackConflict. */
export const firstLook = async (
  tx: Orm,
  spec: SpecRow,
  branch: string | null,
  template: string | undefined,
  at: Date,
): Promise<void> => {
  const websocketUrl = streamUrlOf(spec, branch, template)
  const holder = { ownerId: spec.ownerId, specId: spec.id, branch }
  await checkFree(tx, { name: stackNameOf(spec.name, branch), websocketUrl }, holder, at)
}
