import { isObject } from "../http/json.ts"

/** In which order a view shows its records: by the field at this path. */
export type Sort = { readonly field: readonly string[]; readonly order: "asc" | "desc" }

/**
 * One step of a watched view. `record` is the whole record, with the change merged in; `removed` is the key of the record whose
 * place it took in a view of the latest.
 */
export type Change<T> =
  | { readonly op: "snapshot" }
  | { readonly op: "upsert"; readonly key: string; readonly record: T; readonly removed?: string }
  | { readonly op: "delete"; readonly key: string }

/** A frame about records, as a stream server sends it. */
export type RecordFrame = {
  readonly op: "snapshot" | "create" | "upsert" | "patch" | "delete"
  readonly key: string
  readonly data: unknown
  readonly append: readonly string[]
  readonly complete: boolean
  readonly seq: string | undefined
  /** How many characters it has. */
  readonly size: number
}

/** The most that a view's records may have, and that may wait for a reader: a server decides what it sends. */
export const most = { records: 100_000, characters: 32 * 2 ** 20 }

/** Merges a patch: objects member by member, arrays whose path is listed at their end, all else in its place. */
const merge = (old: unknown, patch: unknown, append: readonly string[], path = ""): unknown => {
  if (Array.isArray(old) && Array.isArray(patch)) return append.includes(path) ? [...old, ...patch] : patch
  if (!isObject(old) || !isObject(patch)) return patch
  const merged: [string, unknown][] = Object.entries(patch).map(([name, value]) => {
    const inside = path === "" ? name : `${path}.${name}`
    return [name, Object.hasOwn(old, name) ? merge(old[name], value, append, inside) : value]
  })
  return { ...old, ...Object.fromEntries(merged) }
}

const integer = /^(0|-?[1-9]\d{0,99})$/

/** A number, exactly: streams write wide integers as decimal strings. */
export const exact = (value: unknown): bigint | number | undefined => {
  if (typeof value === "string" && integer.test(value)) return BigInt(value)
  return typeof value === "number" || typeof value === "bigint" ? value : undefined
}

export const compare = <Value extends string | number | bigint>(a: Value, b: Value): number =>
  a < b ? -1 : a > b ? 1 : 0

/** What a record has at a path; undefined if nothing. */
export const valueAt = (record: unknown, path: readonly string[]): unknown =>
  path.reduce(
    (value: unknown, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    record,
  )

/**
 * The records in this order, as servers have it: null first, numbers by size, texts by code unit; those with the same value by
 * their keys. Digits among other texts are text too.
 */
export const inOrder = <T>(records: ReadonlyMap<string, T>, { field, order }: Sort): Map<string, T> => {
  const sign = order === "desc" ? -1 : 1
  const rows = [...records].map((row) => ({ row, value: valueAt(row[1], field) ?? null }))
  const isOfNumbers = rows.every(({ value }) => value === null || exact(value) !== undefined)
  const comparable = (value: unknown) =>
    (isOfNumbers ? exact(value) : typeof value === "string" ? value : JSON.stringify(value)) ?? ""
  return new Map(
    rows
      .map(({ row, value }) => ({ row, isSet: Number(value !== null), value: comparable(value) }))
      .sort(
        (a, b) => sign * (a.isSet - b.isSet || (a.isSet && compare(a.value, b.value))) || compare(a.row[0], b.row[0]),
      )
      .map(({ row }) => row),
  )
}

/** The records of a view as frames make them. @param tooLarge the error for more than may be kept */
export const createStreamRecords = <T>(tooLarge: () => Error) => {
  let records = new Map<string, T>()
  /** A snapshot of which not all has come. */
  let partial: Map<string, T> | undefined
  let sort: Sort | undefined
  /** At least the characters that are kept: what came since they were last counted is in it too. */
  let held = 0

  const keepBounded = (kept: ReadonlyMap<string, T>, size: number): void => {
    held += size
    if (held > most.characters) {
      held = 0
      for (const entry of kept) held += JSON.stringify(entry).length
    }
    if (held > most.characters || kept.size > most.records) throw tooLarge()
  }
  const put = (target: Map<string, T>, { op, key, data, append }: RecordFrame): void => {
    if (op === "delete") target.delete(key)
    // What a stream sends for a view has the type that its schema says.
    else target.set(key, (op === "patch" ? merge(target.get(key), data, append) : data) as T)
  }

  const sorted = (map: Map<string, T>): Map<string, T> => (sort === undefined ? map : inOrder(map, sort))

  return {
    /** In the view's order, where it has one. */
    records: (): ReadonlyMap<string, T> => records,
    sortBy: (order: Sort | undefined): void => {
      sort = order
    },
    /** A connection was lost: the rest of a snapshot will not come. */
    interrupted: (): void => {
      partial = undefined
    },
    /** Applies a frame; undefined while a snapshot is not complete. */
    apply: (frame: RecordFrame): Change<T> | undefined => {
      const { op, key, data, complete, size } = frame
      if (op === "snapshot") {
        if (partial === undefined) held = 0
        partial ??= new Map()
        for (const row of Array.isArray(data) ? (data as unknown[]) : []) {
          if (isObject(row) && typeof row["key"] === "string") partial.set(row["key"], row["data"] as T)
        }
        keepBounded(partial, size)
        if (!complete) return undefined
        records = sorted(partial)
        partial = undefined
        return { op: "snapshot" }
      }
      put(partial ?? records, frame)
      keepBounded(partial ?? records, size)
      if (partial !== undefined) return undefined
      if (op !== "delete") records = sorted(records)
      const record = records.get(key)
      return op === "delete" || record === undefined ? { op: "delete", key } : { op: "upsert", key, record }
    },
  }
}
