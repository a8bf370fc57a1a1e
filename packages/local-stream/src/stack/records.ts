import { isObject } from "@svc/common/json-object"
import { populate, type Population } from "./fields.ts"
import type { Context, EntityPlan } from "./plan.ts"
import { inKind, same, textOf, type Value } from "./value.ts"

/** A change to the record of an entity with this key, or to the records whose indexed fields have the looked-up value. */
export type Patch = {
  readonly target: { readonly key: string } | { readonly lookup: string; readonly account?: string }
  readonly context: Context
  readonly writes: readonly { readonly path: string; readonly population: Population; readonly value: Value }[]
}

export type StreamRecord = {
  readonly key: string
  /** Values by the path of their field, including fields that aren't shown. */
  readonly values: Map<string, Value>
  /** The values that each UniqueCount has counted, by the path of its field. */
  readonly seen: Map<string, Set<string>>
  /** What clients receive. It is replaced, never changed. */
  shown: Value
}

/** Changes since the last call of `take`: by key, the former values by path, or undefined for a new record. */
export type Changes = {
  readonly changed: ReadonlyMap<string, ReadonlyMap<string, Value> | undefined>
  readonly removed: ReadonlySet<string>
}

export const mostRecords = 10_000
const mostRemembered = 10_000

const put = (root: Record<string, Value>, [first = "", ...others]: readonly string[], value: Value): void => {
  const inside: Record<string, Value> = { ...(isObject(root[first]) ? root[first] : {}) }
  if (others.length > 0) put(inside, others, value)
  root[first] = others.length > 0 ? inside : value
}

/** Makes nested objects from values with dotted paths. */
export const nest = (values: readonly (readonly [string, Value])[]): Value => {
  const root: Record<string, Value> = {}
  for (const [path, value] of values) put(root, path.split("."), value)
  return root
}

/** Keeps the records of an entity. When there are too many, the least recently changed one is dropped. */
export const createRecords = ({ fields, shown, indexed, computed }: EntityPlan) => {
  const records = new Map<string, StreamRecord>()
  const kinds = new Map(fields.map(({ path, kind }) => [path, kind]))
  /** Keys of records, by the text of an indexed field. */
  const index = new Map<string, Set<string>>()
  /** The newest patch of each kind of account, by the value it looks up. Records that come later need it too. */
  const remembered = new Map<string, Map<string, Patch>>()
  let changed = new Map<string, Map<string, Value> | undefined>()
  let removed = new Set<string>()
  let version = 0

  const textsOf = (record: StreamRecord | undefined): Set<string> => {
    const values = indexed.map((path) => record?.values.get(path) ?? null)
    return new Set(values.filter((value) => value !== null).map(textOf))
  }

  const reindex = (key: string, before: Set<string>, after: Set<string>): string[] => {
    for (const text of before.difference(after)) {
      index.get(text)?.delete(key)
      if (index.get(text)?.size === 0) index.delete(text)
    }
    const added = [...after.difference(before)]
    for (const text of added) index.getOrInsertComputed(text, () => new Set()).add(key)
    return added
  }

  const create = (key: string): StreamRecord => {
    const record: StreamRecord = { key, values: new Map(), seen: new Map(), shown: null }
    removed.delete(key)
    changed.set(key, undefined)
    return record
  }

  /** Returns whether the value changed. */
  const set = (record: StreamRecord, path: string, value: Value): boolean => {
    const [old, next] = [record.values.get(path) ?? null, inKind(value, kinds.get(path) ?? "other")]
    if (same(old, next)) return false
    record.values.set(path, next)
    changed.getOrInsertComputed(record.key, () => new Map())?.getOrInsert(path, old)
    return true
  }

  const compute = (record: StreamRecord, { slot, timestamp }: Context): void => {
    const read = (path: string): Value => {
      const value = record.values.get(path) ?? null
      return typeof value === "number" && kinds.get(path) === "narrow" ? BigInt(value) : value
    }
    for (const one of computed) set(record, one.path, one.compute({ read, slot, timestamp, names: {} }))
  }

  const update = (key: string, { writes, context }: Patch): void => {
    const known = records.get(key)
    const before = textsOf(known)
    const record = known ?? create(key)
    let isChanged = known === undefined
    for (const { path, population, value } of writes) {
      const seen = record.seen.get(path) ?? new Set()
      if (population === "UniqueCount") record.seen.set(path, seen)
      isChanged = set(record, path, populate(population, record.values.get(path) ?? null, value, seen)) || isChanged
    }
    if (isChanged) {
      compute(record, context)
      // At the end, as the most recently changed one.
      records.delete(key)
      records.set(key, record)
    }
    const [oldest] = records.keys()
    if (records.size > mostRecords && oldest !== undefined) {
      reindex(oldest, textsOf(records.get(oldest)), new Set())
      records.delete(oldest)
      changed.delete(oldest)
      removed.add(oldest)
    }
    for (const text of reindex(key, before, textsOf(record))) {
      for (const patch of remembered.get(text)?.values() ?? []) update(key, patch)
    }
  }

  return {
    apply: (patch: Patch): void => {
      version++
      const { target } = patch
      if ("key" in target) return update(target.key, patch)
      const { lookup, account } = target
      if (account !== undefined) {
        const ofText = remembered.get(lookup) ?? new Map<string, Patch>()
        remembered.delete(lookup)
        remembered.set(lookup, ofText.set(account, patch))
        const [oldest] = remembered.keys()
        if (remembered.size > mostRemembered && oldest !== undefined) remembered.delete(oldest)
      }
      for (const key of [...(index.get(lookup) ?? [])].sort()) update(key, patch)
    },
    /** Returns the changes since the last call, and shows them to clients. */
    take: (): Changes => {
      const changes = { changed, removed }
      changed = new Map()
      removed = new Set()
      for (const key of changes.changed.keys()) {
        const record = records.get(key)
        if (record !== undefined) record.shown = nest(shown.map((path) => [path, record.values.get(path) ?? null]))
      }
      return changes
    },
    get: (key: string): StreamRecord | undefined => records.get(key),
    /** Most recently changed first. */
    newest: (): StreamRecord[] => [...records.values()].toReversed(),
    /** A different number after each change. */
    version: () => version,
    size: () => records.size,
  }
}

export type Records = ReturnType<typeof createRecords>
