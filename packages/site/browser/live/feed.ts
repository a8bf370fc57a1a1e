// The records of one view as they change, and what is known about the connection. Knows no DOM.
import {
  type ConnectionState,
  createPlatform,
  createSession,
  createStream,
  type Stream,
  SvcError,
  type Watched,
} from "@svc/client"
import { systemClock } from "@svc/client/http"
import { findAway, type Part, reaches } from "./away.ts"
import { createHistory } from "./history.ts"
import { createMarks } from "./marks.ts"

export type FeedOptions = {
  readonly api: string
  readonly apiKey: string
  readonly websocketUrl: string
  readonly view: string
  readonly recordKey: string
  readonly take: number
}

type FeedState =
  | Exclude<ConnectionState, { readonly kind: "away" }>
  /** `part`: what is away, once that was found out. */
  | { readonly kind: "away"; readonly part: Part | undefined }
  /** A limit: it goes on by itself. */
  | { readonly kind: "waiting"; readonly error: SvcError }
  /** It does not go on unless something else is asked for. */
  | { readonly kind: "refused"; readonly error: SvcError }

const drawMs = 100
const retryMs = 2000
const lookMs = 15_000

/** @param onChange called at most ten times a second, after something changed */
export const startFeed = ({ api, apiKey, websocketUrl, view, recordKey, take }: FeedOptions, onChange: () => void) => {
  const stopping = new AbortController()
  const history = createHistory()
  const marks = createMarks()
  let records: ReadonlyMap<string, unknown> = new Map()
  let state: FeedState = { kind: "connecting" }
  let isSettled = false
  let platformAway = false
  let changes = 0
  let changedAt: number | undefined
  let round = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined

  const changed = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      if (!stopping.signal.aborted) onChange()
    }, drawMs)
  }
  const become = (next: FeedState): void => {
    if ((next.kind === "live") !== (state.kind === "live"))
      if (next.kind === "live") history.listen(Date.now())
      // Up to the last change it was listened to; after that nobody can tell when the connection broke.
      else history.lose(changedAt ?? 0)
    state = next
    isSettled ||= next.kind !== "live"
    changed()
  }
  const sayAway = async (error: SvcError | undefined): Promise<void> => {
    if (error !== undefined && error.status >= 400 && error.status < 500) return become({ kind: "waiting", error })
    if (state.kind !== "away") become({ kind: "away", part: undefined })
    const part = error !== undefined && error.status >= 500 ? "platform" : await findAway(api)
    if (!stopping.signal.aborted && state.kind === "away") become({ kind: "away", part })
  }
  const follow = (next: ConnectionState): void => {
    // Each attempt begins so: what is known of the last one stays until the next one succeeds.
    if (stopping.signal.aborted || next.kind === "connecting") return
    if (next.kind === "away") void sayAway(next.error)
    else become(next)
  }

  const receive = ({ records: newest, change }: Watched<unknown>): void => {
    const isFirst = change.op === "snapshot" && records.size === 0
    records = newest
    isSettled = true
    if (change.op === "snapshot") {
      for (const [key, record] of newest) if (marks.put(key, record, isFirst)) history.addOld(record)
    } else {
      changes++
      changedAt = Date.now()
      if (change.op === "upsert") {
        marks.put(change.key, change.record, false)
        history.add(change.record, changedAt)
      }
    }
    marks.keep(newest)
    changed()
  }

  /** Watches until the connection can't be had. */
  const watch = async (stream: Stream): Promise<void> => {
    const options = { ...(recordKey !== "" && { key: recordKey }), take, signal: round.signal, onState: follow }
    try {
      for await (const step of stream.watch(view, options)) receive(step)
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) throw thrown
      if (state.kind === "key-gone") return
      if (!thrown.retryable) return become({ kind: "refused", error: thrown })
      await systemClock.sleep(Math.max(retryMs, thrown.retryAfterMs ?? 0), round.signal)
    }
  }

  const run = async (): Promise<void> => {
    const session = createSession({
      platform: createPlatform({ apiUrl: api, key: apiKey }),
      websocketUrl,
      scope: "read",
    })
    const stream = createStream({ websocketUrl, session })
    while (!stopping.signal.aborted && state.kind !== "refused" && state.kind !== "key-gone") {
      round = new AbortController()
      await watch(stream)
    }
  }
  /** Records may still come while no new token can be had. */
  const look = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await systemClock.sleep(lookMs, stopping.signal)
      if (document.hidden || state.kind !== "live") continue
      platformAway = !(await reaches(`${api}/livez`))
      changed()
    }
  }

  const again = (): void => round.abort()
  const lost = (): void => become({ kind: "away", part: "network" })
  addEventListener("online", again)
  addEventListener("offline", lost)
  void run()
  void look()
  return {
    state: () => state,
    /** Whether the first records came, or why they didn't is known. */
    isSettled: () => isSettled,
    platformAway: () => platformAway,
    records: () => records,
    changes: () => changes,
    /** When the last change came, in milliseconds since 1970. */
    changedAt: () => changedAt,
    history,
    marksOf: marks.of,
    stop: (): void => {
      stopping.abort()
      round.abort()
      clearTimeout(timer)
      removeEventListener("online", again)
      removeEventListener("offline", lost)
    },
  }
}

export type Feed = ReturnType<typeof startFeed>
