import type { Population } from "./fields.ts"
import type { Context, EntityPlan, Plan, Update } from "./plan.ts"
import { keyOf, textOf, type Value } from "./value.ts"

/** A change to the record with this key, or to the records whose indexed fields have the looked-up value. */
export type Patch = {
  readonly entity: string
  readonly target: { readonly key: string } | { readonly lookup: string; readonly account?: string }
  readonly context: Context
  readonly writes: readonly { readonly path: string; readonly population: Population; readonly value: Value }[]
}

const patchesFor = ({ name: entity, handlers }: EntityPlan, update: Update): Patch[] => {
  const { kind, name, context } = update
  return handlers.flatMap((handler) => {
    if (handler.program !== update.program || handler.kind !== kind || handler.name !== name) return []
    const value = handler.key.read(update)
    const key = keyOf(value)
    if (key === undefined || !handler.conditions.every((holds) => holds(update.value))) return []
    const lookup = { lookup: textOf(value), ...(kind === "account" ? { account: name } : {}) }
    const writes = handler.mappings
      .filter(({ holds }) => holds(update.value))
      .map(({ path, population, read }) => ({ path, population, value: read(update) }))
    return [{ entity, target: handler.key.lookup ? lookup : { key }, context, writes }]
  })
}

/** The changes that an update makes to a stack's records. */
export const interpret = ({ entities }: Plan, update: Update): Patch[] =>
  entities.flatMap((entity) => patchesFor(entity, update))
