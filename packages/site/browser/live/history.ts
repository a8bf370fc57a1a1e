// What a chart is drawn of: the numbers of the latest changes, and how many changes each second had.
import { leavesOf, numberText, timeOf } from "./values.ts"

/** `at` in milliseconds since 1970, `text` the exact value; empty where nothing was measured. */
export type Point = { readonly at: number; readonly text: string }

type Entry = { readonly at: number; readonly numbers: ReadonlyMap<string, string> }

const mostEntries = 600
const rateSeconds = 60

/** Bounded: 600 changes and 60 seconds, however long a page is open. */
export const createHistory = () => {
  let entries: Entry[] = []
  const perSecond = new Map<number, number>()
  /** The whole seconds that were listened to, `to` not included; undefined: until now. */
  let spans: { readonly from: number; to: number | undefined }[] = []

  /** A record's numbers at its own time, or at `now` where it has none. */
  const entryOf = (record: unknown, now: number | undefined): Entry | undefined => {
    let at = now
    const numbers = new Map<string, string>()
    for (const [path, value] of leavesOf(record)) {
      const text = numberText(value)
      if (text === undefined) continue
      at = timeOf(path, value) ?? at
      numbers.set(path, text)
    }
    return at === undefined ? undefined : { at, numbers }
  }

  const keep = (entry: Entry | undefined): void => {
    if (entry !== undefined) entries.push(entry)
    if (entries.length > 1.5 * mostEntries) entries = entries.slice(-mostEntries)
  }

  return {
    /** Adds a change that came now. */
    add: (record: unknown, now: number): void => {
      keep(entryOf(record, now))
      const second = Math.floor(now / 1000)
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1)
      for (const old of perSecond.keys()) if (old < second - rateSeconds) perSecond.delete(old)
    },
    /** Adds a record of a snapshot, whose time is known only if it tells it. */
    addOld: (record: unknown): void => {
      keep(entryOf(record, undefined))
    },
    paths: (): readonly string[] => [...new Set(entries.flatMap(({ numbers }) => [...numbers.keys()]))],
    points: (path: string): readonly Point[] =>
      entries
        .slice(-mostEntries)
        .flatMap(({ at, numbers }) => {
          const text = numbers.get(path)
          return text === undefined ? [] : [{ at, text }]
        })
        .sort((a, b) => a.at - b.at),
    /** From now on every change is seen. */
    listen: (now: number): void => {
      const oldest = now / 1000 - rateSeconds
      spans = [...spans.filter(({ to = oldest }) => to >= oldest), { from: Math.ceil(now / 1000), to: undefined }]
    },
    /** Changes have been missed since then. */
    lose: (since: number): void => {
      const last = spans.at(-1)
      if (last !== undefined) last.to = Math.floor(since / 1000)
    },
    /** Changes in each of the last 60 whole seconds that were listened to; a point without a text stands for a gap. */
    rate: (now: number): readonly Point[] => {
      const end = Math.floor(now / 1000)
      const points = Array.from({ length: rateSeconds }, (_, index) => {
        const second = end - rateSeconds + index
        const isHeard = spans.some(({ from, to = end }) => from <= second && second < to)
        return { at: second * 1000, text: isHeard ? String(perSecond.get(second) ?? 0) : "" }
      })
      return points.slice(points.findIndex(({ text }) => text !== "") >>> 0)
    },
  }
}
