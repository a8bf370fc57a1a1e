// The views that this process follows from the first call on, so that nothing is lost between two calls.
import { randomUUID } from "node:crypto"
import { EventEmitter, once } from "node:events"
import type { Condition, ConnectionState } from "@svc/client"
import { ownError } from "@svc/client/http"
import { createFilter, fieldType } from "@svc/client/where"
import { ToolError } from "@svc/mcp"
import { createLater, type Difference, type openView, unreadable } from "../stream/view.ts"

/** The bounds of what is kept in memory: changes of a view and their characters, views, and the time since a view was last asked for. */
export const mostChanges = 10_000
export const mostCharacters = 32 * 2 ** 20
const mostViews = 8
export const idleMs = 15 * 60_000

type Viewed = Pick<Awaited<ReturnType<typeof openView>>, "view" | "schema">
type Opened = Pick<Awaited<ReturnType<typeof openView>>, "stackName" | "stream" | "view" | "schema" | "websocketUrl">

/** A change with what the records that it concerns were before. */
type Entry = { readonly change: Difference; readonly before: unknown; readonly removed: unknown; readonly size: number }

export type Matches = ReturnType<typeof createFilter>["matches"]

/** Changes of one moment, and the cursor after them. */
export type Step = { readonly changes: readonly Difference[]; readonly next: string }

const errors = { ownError }

/** The test of a tool's conditions. Throws field-not-found and invalid-where. */
export const filterFor = ({ view, schema }: Viewed, where: readonly Condition[] = []): Matches =>
  createFilter({ view, schema, errors }, where).matches

/** Throws field-not-found. */
export const checkField = ({ view, schema }: Viewed, field: string): void =>
  void fieldType({ view, schema, errors }, field)

const tooOld = (): ToolError =>
  new ToolError(
    "invalid-cursor",
    "after was never given out for this view and key, or is too old.",
    "What changed since it was given out can't be told: call read_view with the same view and key, compare, and pass its next as after.",
  )

/** The error for a stream that can't be read, as its server tells why. */
const streamError = (error: unknown, opened: Opened): unknown => {
  const { message, isServed } = unreadable(error, opened) ?? {}
  if (message === undefined) return error
  const first =
    isServed === true ? "Call the tool again later." : "Its owner must run a stream server there: tell the person."
  return new ToolError("unreachable", message, `${first} list_stacks shows which stacks have data now.`)
}

/** What a change is to a reader of the records that match. A record that no longer does is deleted. */
const seenBy = (matches: Matches, { change, before, removed }: Entry): readonly Difference[] => {
  const left = "removed" in change && matches(removed) ? change.removed : undefined
  if (change.op === "upsert" && matches(change.record)) {
    const { removed: _removed, ...rest } = change
    return [{ ...rest, ...(left !== undefined && { removed: left }) }]
  }
  const gone = [before !== undefined && matches(before) ? change.key : undefined, left]
  return gone.flatMap((key) => (key === undefined ? [] : [{ op: "delete" as const, key }]))
}

/** Follows a view until it fails, or is left. */
const follow = (opened: Opened, key: string | undefined, onEnd: () => void) => {
  const { stream, view } = opened
  const id = randomUUID()
  const leaving = new AbortController()
  const known = new Map<string, unknown>()
  let records: ReadonlyMap<string, unknown> | undefined
  let log: Entry[] = []
  /** The place of the log's first entry. */
  let first = 0
  let characters = 0
  let failure: { readonly error: unknown } | undefined
  let isLive = false
  const events = new EventEmitter().setMaxListeners(0)
  const tell = (): void => void events.emit("news")

  const run = async (): Promise<void> => {
    const changesIn = createLater()
    const onState = ({ kind }: ConnectionState): void => {
      isLive = kind === "live"
      tell()
    }
    for await (const step of stream.watch(view, {
      ...(key !== undefined && { key }),
      onState,
      signal: leaving.signal,
    })) {
      if (records === undefined) for (const [one, record] of step.records) known.set(one, record)
      for (const change of changesIn(step)) {
        const removed = "removed" in change ? change.removed : undefined
        const size = JSON.stringify(change).length
        characters += size
        log.push({ change, before: known.get(change.key), removed: removed !== undefined && known.get(removed), size })
        if (removed !== undefined) known.delete(removed)
        if (change.op === "delete") known.delete(change.key)
        else known.set(change.key, change.record)
      }
      if (log.length > 2 * mostChanges || characters > mostCharacters) {
        for (const { size } of log.splice(0, Math.ceil(log.length / 2))) {
          first++
          characters -= size
        }
      }
      records = step.records
      tell()
    }
  }
  void run()
    .catch((error: unknown) => (failure = { error: streamError(error, opened) }))
    .finally(() => {
      failure ??= { error: tooOld() }
      onEnd()
      tell()
    })

  /** Waits for more. False once the signal aborts. */
  const more = async (signal: AbortSignal): Promise<boolean> => {
    if (failure !== undefined) throw failure.error
    // It rejects when the signal aborts.
    await once(events, "news", { signal }).catch(() => {})
    return !signal.aborted
  }
  const cursorAt = (place: number): string => `${id}.${place}`
  const end = (): number => first + log.length

  return {
    /** The records now, and a cursor for what follows. Undefined if the signal aborts first. */
    now: async (signal: AbortSignal) => {
      for (;;) {
        if (records !== undefined && isLive) return { records, next: cursorAt(end()) }
        if (!(await more(signal))) return undefined
      }
    },
    /** The changes after a cursor, as soon as there are some, each with the cursor after it. Empty once the signal aborts. */
    changes: async (cursor: string, matches: Matches, signal: AbortSignal) => {
      const [, name, digits] = /^(.+)\.(\d+)$/.exec(cursor) ?? []
      let place = Number(digits)
      for (;;) {
        if (name !== id || place < first || place > end()) throw tooOld()
        const found = log
          .slice(place - first)
          .map((entry, index) => ({ changes: seenBy(matches, entry), next: cursorAt(place + index + 1) }))
        place = end()
        const next = cursorAt(place)
        const seen = found.filter(({ changes }) => changes.length > 0)
        if (seen.length > 0 || !(await more(signal))) return { seen, next }
      }
    },
    isLive: (): boolean => isLive,
    /** Whether a call waits for it. */
    isAsked: (): boolean => events.listenerCount("news") > 0,
    leave: (): void => leaving.abort(),
  }
}

export type Followed = ReturnType<typeof follow>

/** The views that are followed, those asked for last at the end. */
export const createFollowing = () => {
  const views = new Map<string, { readonly followed: Followed; readonly idle: NodeJS.Timeout }>()
  const leave = (id: string): void => {
    const left = views.get(id)
    views.delete(id)
    clearTimeout(left?.idle)
    left?.followed.leave()
  }
  return {
    /** The view, which is followed from now on. */
    follow: (opened: Opened, key: string | undefined): Followed => {
      const id = JSON.stringify([opened.websocketUrl, opened.view, key])
      const known = views.get(id)
      clearTimeout(known?.idle)
      const followed = known?.followed ?? follow(opened, key, () => leave(id))
      views.delete(id)
      views.set(id, { followed, idle: setTimeout(() => leave(id), idleMs).unref() })
      const [oldest] = [...views].find(([one, view]) => one !== id && !view.followed.isAsked()) ?? []
      if (views.size > mostViews && oldest !== undefined) leave(oldest)
      return followed
    },
    close: (): void => {
      for (const id of views.keys()) leave(id)
    },
  }
}

export type Following = ReturnType<typeof createFollowing>
