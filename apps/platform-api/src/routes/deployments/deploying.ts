// What the routes that publish a version share.
import type { Orm } from "../../db/database.ts"
import { streamUrlOf } from "../../records/stack-names.ts"
import { checkFree } from "../../registry/publication.ts"
import type { SpecRow } from "../../work/records.ts"

export const deployCodes = ["version-not-found", "stack-name-taken", "websocket-url-taken", "limit-reached"] as const

/** Reports a taken name or URL at once. The build checks again. Throws StackConflict. */
export const firstLook = async (tx: Orm, spec: SpecRow, template: string | undefined, at: Date): Promise<void> => {
  const stack = { name: spec.name, websocketUrl: streamUrlOf(spec, template) }
  await checkFree(tx, stack, { ownerId: spec.ownerId, specId: spec.id }, at)
}
