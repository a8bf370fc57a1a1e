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
  /** A publishable key. */
  readonly apiKey: string
  readonly websocketUrl: string
  readonly view: string
  readonly recordKey: string
  readonly take: number
}

export type FeedState =
  | { readonly kind: "connecting" | "live" }
  | { readonly kind: "away"; readonly part: Part }
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
  let platformAway = false
  let changes = 0
  let round = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined

  const changed = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      if (!stopping.signal.aborted) onChange()
    }, drawMs)
  }
  const become = (next: FeedState): void => {
    state = next
    changed()
  }
  const sayAway = async (): Promise<void> => {
    const part = await findAway(api)
    if (!stopping.signal.aborted && !round.signal.aborted) become({ kind: "away", part })
  }

  const receive = ({ records: newest, change }: Watched<unknown>): void => {
    const isFirst = change.op === "snapshot" && records.size === 0
    records = newest
    if (change.op === "snapshot") {
      for (const [key, record] of newest) if (marks.put(key, record, isFirst)) history.addOld(record)
    } else {
      changes++
      if (change.op === "upsert") {
        marks.put(change.key, change.record, false)
        history.add(change.record, Date.now())
      }
    }
    marks.keep(newest)
    become({ kind: "live" })
  }

  /** Watches until the connection can't be had. */
  const watch = async (stream: Stream): Promise<void> => {
    const options = { ...(recordKey !== "" && { key: recordKey }), take, signal: round.signal }
    const onState = ({ kind }: ConnectionState): void => {
      if (kind === "away") void sayAway()
    }
    try {
      for await (const step of stream.watch(view, { ...options, onState })) receive(step)
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) throw thrown
      if (!thrown.retryable) return become({ kind: "refused", error: thrown })
      if (thrown.status === 0) await sayAway()
      else become(thrown.status < 500 ? { kind: "waiting", error: thrown } : { kind: "away", part: "platform" })
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
    while (!stopping.signal.aborted && state.kind !== "refused") {
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
    platformAway: () => platformAway,
    records: () => records,
    changes: () => changes,
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
