import { leavesOf } from "./values.ts"

/** When a value last changed, as a growing number; a whole record under the path "". */
export type Marks = ReadonlyMap<string, number>

/** Remembers the records that are shown, so that what changed in them can stand out. */
export const createMarks = () => {
  const known = new Map<
    string,
    { readonly leaves: ReadonlyMap<string, unknown>; readonly marks: Map<string, number> }
  >()
  let count = 0
  const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)
  return {
    of: (key: string): Marks => known.get(key)?.marks ?? new Map(),
    /** Takes a record's new state; false if it says nothing new. @param isOld whether it was there before this page looked */
    put: (key: string, record: unknown, isOld: boolean): boolean => {
      const leaves = leavesOf(record)
      const before = known.get(key)
      const marks = before?.marks ?? new Map<string, number>()
      const changed =
        before === undefined
          ? [""]
          : [...leaves].flatMap(([path, value]) => (same(value, before.leaves.get(path)) ? [] : [path]))
      if (changed.length > 0) count++
      if (!isOld) for (const path of changed) marks.set(path, count)
      known.set(key, { leaves, marks })
      return changed.length > 0
    },
    /** Forgets all records but these. */
    keep: (keys: ReadonlyMap<string, unknown>): void => {
      for (const key of known.keys()) if (!keys.has(key)) known.delete(key)
    },
  }
}
