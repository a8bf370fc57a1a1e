import { createChannels } from "./channel.ts"
import type { Batch } from "../source/follow.ts"
import { compileStack, type Context, type EntityPlan, type Plan, type Update } from "./plan.ts"
import { createRecords, type Patch } from "./records.ts"
import { keyOf, textOf } from "./value.ts"

/** The updates that blocks hold for a stack's programs. Accounts come first, so that instructions find their records. */
export const updatesIn = ({ blocks, accounts }: Batch, { programs }: Plan): Update[] => {
  const byAddress = new Map(programs.map((program) => [program.address, program]))
  const writers = new Map<string, Context>()
  const instructions = blocks.flatMap(({ slot, time: timestamp, transactions }) =>
    transactions.flatMap(({ signature, instructions: called }) =>
      called.flatMap(({ program, accounts: addresses, writable, data, index }): Update[] => {
        const context = { signature, slot, timestamp }
        for (const address of writable) writers.set(address, context)
        const decoded = byAddress.get(program)?.instruction(addresses, data)
        const own = { ...context, instruction_index: index }
        return decoded === undefined ? [] : [{ program, kind: "instruction", ...decoded, context: own }]
      }),
    ),
  )
  const written = accounts.flatMap(({ address, owner, data }): Update[] => {
    const [context, decoded] = [writers.get(address), byAddress.get(owner)?.account(data)]
    if (context === undefined || decoded === undefined) return []
    return [{ program: owner, kind: "account", ...decoded, context: { ...context, account_address: address } }]
  })
  return [...written, ...instructions]
}

const patchesFor = ({ handlers }: EntityPlan, update: Update): Patch[] => {
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
    return [{ target: handler.key.lookup ? lookup : { key }, context, writes }]
  })
}

/**
 * Makes a version of a stack, with its views and no records yet.
 * @param epoch a different text for each start and version
 * @throws ZodError for an AST that can't be read
 */
export const createStack = (ast: unknown, { name, version }: { name: string; version: number }, epoch: string) => {
  const plan = compileStack(ast)
  let count = 0
  const nextSeq = (): string => `${epoch}-${(++count).toString(36)}`
  const entities = new Map(
    plan.entities.map((entity) => {
      const records = createRecords(entity)
      return [entity.name, { ...entity, records, channels: createChannels(records, new Set(entity.shown), nextSeq) }]
    }),
  )
  const views = new Map(
    [...entities.values()].flatMap(({ views: own, channels }) => own.map((view) => [view.id, { view, channels }])),
  )

  return {
    name,
    version,
    plan,
    /** Applies updates in their order, and sends the changes to subscribers. */
    apply: (updates: readonly Update[]): void => {
      for (const update of updates) {
        for (const entity of entities.values()) {
          for (const patch of patchesFor(entity, update)) entity.records.apply(patch)
        }
      }
      for (const { records, channels } of entities.values()) channels.publish(records.take())
    },
    view: (id: string) => views.get(id),
    viewIds: () => [...views.keys()],
    counts: () => Object.fromEntries([...entities].map(([entity, { records }]) => [entity, records.size()])),
  }
}

export type Stack = ReturnType<typeof createStack>
