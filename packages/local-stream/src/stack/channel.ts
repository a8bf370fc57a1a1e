// A window on a view. Subscribers that ask for the same window share one channel, which sends them its changes.
import { isObject } from "@svc/common/json-object"
import { type Changes, nest, type Records, type StreamRecord } from "./records.ts"
import { toJson, type Value } from "./value.ts"
import { type Row, rowsOf, type View } from "./views.ts"

export type Window = {
  readonly view: View
  readonly key: string | undefined
  readonly skip: number
  readonly take: number | undefined
}

/** Receives a frame as text. */
export type Subscriber = (frame: string) => void

type Channel = {
  readonly window: Window
  rows: ReadonlyMap<string, StreamRecord>
  readonly subscribers: Set<Subscriber>
  readonly log: { readonly seq: string; readonly frame: string }[]
}

/** How many frames a client can miss before it needs a snapshot, and how many channels stay without subscribers. */
const logSize = 500
const mostIdle = 100

/** Whether clients, which merge the new value into the old one, end up with the new one. */
const merges = (old: Value, next: Value): boolean =>
  !isObject(old) ||
  !isObject(next) ||
  Object.entries(old).every(([name, value]) => Object.hasOwn(next, name) && merges(value, next[name] ?? null))

/** The items that were appended to an array, if nothing else changed in it. */
const appended = (old: Value, next: Value): readonly Value[] | undefined => {
  if (!Array.isArray(old) || !Array.isArray(next) || old.length === 0 || next.length <= old.length) return undefined
  return old.every((item, index) => item === next[index]) ? next.slice(old.length) : undefined
}

/**
 * Makes the channels of an entity.
 * @param shown paths of the fields that clients receive
 * @param nextSeq returns a different text for each frame
 */
export const createChannels = (records: Records, shown: ReadonlySet<string>, nextSeq: () => string) => {
  const channels = new Map<string, Channel>()
  /** Those without subscribers; the one that was left first is the first to go. */
  const idle = new Set<string>()
  const ordered = new Map<string, { readonly version: number; readonly rows: readonly Row[] }>()

  const allRows = (view: View): readonly Row[] => {
    const known = ordered.get(view.id)
    if (known?.version === records.version()) return known.rows
    const rows = rowsOf(view, records)
    ordered.set(view.id, { version: records.version(), rows })
    return rows
  }

  const rowsIn = ({ view, key, skip, take }: Window): ReadonlyMap<string, StreamRecord> => {
    const own = view.needsKey && key !== undefined ? records.get(key) : undefined
    const rows = view.needsKey ? (own === undefined ? [] : [{ key: own.key, record: own }]) : allRows(view)
    const chosen = key === undefined ? rows : rows.filter((row) => row.key === key)
    return new Map(chosen.slice(skip, take && skip + take).map((row) => [row.key, row.record]))
  }

  /** A record's change as a patch, or the whole record if a patch can't express it; undefined if no shown field changed. */
  const changeOf = ({ values, shown: whole }: StreamRecord, before: ReadonlyMap<string, Value> | undefined) => {
    const parts = [...(before ?? [])].filter(([path]) => shown.has(path))
    const nextOf = (path: string): Value => values.get(path) ?? null
    if (before === undefined || !parts.every(([path, old]) => merges(old, nextOf(path)))) {
      return { op: "upsert", data: whole }
    }
    const added = new Map(parts.map(([path, old]) => [path, appended(old, nextOf(path))]))
    const data = nest(parts.map(([path]) => [path, added.get(path) ?? nextOf(path)]))
    const append = parts.map(([path]) => path).filter((path) => added.get(path) !== undefined)
    return parts.length === 0 ? undefined : { op: "patch", data, ...(append.length > 0 && { append }) }
  }

  const publish = (channel: Channel, { changed }: Changes): void => {
    const { window, rows: before, log, subscribers } = channel
    const { mode, id: entity } = window.view
    const send = (key: string, change: object | undefined): void => {
      if (change === undefined) return
      const seq = nextSeq()
      const frame = toJson({ mode, entity, key, ...change, seq })
      log.push({ seq, frame })
      for (const subscriber of subscribers) subscriber(frame)
    }
    channel.rows = rowsIn(window)
    for (const key of before.keys()) if (!channel.rows.has(key)) send(key, { op: "delete", data: null })
    for (const [key, record] of channel.rows) {
      if (before.get(key) !== record) send(key, { op: "upsert", data: record.shown })
      else if (changed.has(record.key)) send(key, changeOf(record, changed.get(record.key)))
    }
    log.splice(0, log.length - logSize)
  }

  return {
    /** Sends the changes to all subscribers. */
    publish: (changes: Changes): void => {
      if (changes.changed.size + changes.removed.size === 0) return
      for (const channel of channels.values()) publish(channel, changes)
    },
    /**
     * Adds a subscriber.
     * @param after the `seq` of the last frame that it received
     * @returns the current rows, the frames that it missed if they are still known, and a function that unsubscribes
     */
    subscribe: (window: Window, subscriber: Subscriber, after: string | undefined) => {
      const id = JSON.stringify([window.view.id, window.key, window.skip, window.take])
      const channel = channels.get(id) ?? { window, rows: rowsIn(window), subscribers: new Set(), log: [] }
      channels.set(id, channel)
      idle.delete(id)
      channel.subscribers.add(subscriber)
      const seen = channel.log.findIndex(({ seq }) => seq === after)
      const missed = seen === -1 ? undefined : channel.log.slice(seen + 1).map(({ frame }) => frame)
      const leave = (): void => {
        if (!channel.subscribers.delete(subscriber) || channel.subscribers.size > 0) return
        idle.add(id)
        const [oldest] = idle
        if (idle.size <= mostIdle || oldest === undefined) return
        idle.delete(oldest)
        channels.delete(oldest)
      }
      return { rows: channel.rows, missed, leave }
    },
  }
}
