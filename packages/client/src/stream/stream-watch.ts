// Loaded when a view is first watched, so that whoever watches none doesn't load it.
import type { Clock } from "../http/clock.ts"
import type { SvcError } from "../http/error.ts"
import { isObject, type Json, textOf } from "../http/json.ts"
import { type ConnectionState, followConnection } from "./connection-state.ts"
import type { Session } from "../platform/session.ts"
import { type Change, createStreamRecords, type RecordFrame, type Sort } from "./stream-records.ts"
import {
  type Ended,
  type Errors,
  faultOf,
  openSocket,
  type StreamSocket,
  tooLarge,
  type WebSocketClass,
} from "./stream-socket.ts"
import type { Condition } from "./where.ts"

export type WatchOptions = {
  /** One record alone; views whose `needs_key` is true in the schema need it. */
  readonly key?: string | undefined
  /** The first records of the view. */
  readonly take?: number | undefined
  /** Only records that fulfil all conditions. The library applies them, to the first `take` records of the view. */
  readonly where?: readonly Condition[] | undefined
  /** Called with the state of the connection, at first and whenever it changes; while the connection is lost, before each attempt to open it again. */
  readonly onState?: ((state: ConnectionState) => void) | undefined
  /** Ends the watching. */
  readonly signal?: AbortSignal | undefined
}

/** The records of a view after a change: one map, which is changed from step to step, in the view's order if it has one. */
export type Watched<T> = { readonly records: ReadonlyMap<string, T>; readonly change: Change<T> }

type Source = {
  readonly websocketUrl: string
  readonly session: Session
  readonly socketClass: WebSocketClass
  readonly clock: Clock
  /** The library's own, because this file is bundled by itself: a copy of the class would be another class. */
  readonly errors: Errors
}

/** A view that was never subscribed to is tried this often. */
const mostFirstTries = 3
const firstWaitMs = 500
/** A record that leaves a window makes room for another, which a server sends at once. */
const successorMs = 50
const longestWaitMs = 30_000
const operations = ["snapshot", "create", "upsert", "patch", "delete"] as const

const frameOf = (message: Json, size: number): RecordFrame | undefined => {
  const op = operations.find((one) => one === message["op"])
  const { append, complete, data } = message
  if (op === undefined) return undefined
  return {
    op,
    key: textOf(message, "key") ?? "",
    data,
    append: Array.isArray(append) ? append.filter((path) => typeof path === "string") : [],
    // Servers that send a snapshot in one piece don't say so.
    complete: complete !== false,
    seq: textOf(message, "seq"),
    size,
  }
}

const sortIn = ({ sort }: Json): Sort | undefined => {
  if (!isObject(sort) || !Array.isArray(sort["field"])) return undefined
  return { field: sort["field"].map(String), order: sort["order"] === "desc" ? "desc" : "asc" }
}

/** A record that came and the one that left for it, whichever was first; undefined for two changes of their own. */
const joined = <T>(first: Change<T> | undefined, second: Change<T> | undefined): Change<T> | undefined => {
  if (first?.op === "delete" && second?.op === "upsert") return { ...second, removed: first.key }
  if (first?.op === "upsert" && second?.op === "delete") return { ...first, removed: second.key }
  return undefined
}

/** See `watch` of createStream. */
export async function* watchView<T>(
  { websocketUrl, session, socketClass, clock, errors }: Source,
  view: string,
  { key, take, onState, signal }: WatchOptions,
): AsyncGenerator<Watched<T>, void, void> {
  const state = createStreamRecords<T>(() => tooLarge(errors))
  const report = followConnection(onState)
  let after: string | undefined
  let failures = 0
  /** Those since a subscription lasted. */
  let waits = 0
  let subscribedAt = Infinity
  let everServed = false
  const isLeft = (): boolean => signal?.aborted === true

  /** A new connection, or why there is none for now. Throws SvcError where there will be none. */
  const connect = async (): Promise<StreamSocket | SvcError> => {
    const hello = () => ({ type: "subscribe", view, key, take, after })
    try {
      return await openSocket({ url: websocketUrl, session, webSocket: socketClass, clock, errors, hello })
    } catch (thrown) {
      const error = errors.asSvcError(thrown, "network-error", "The stream can't be opened")
      if (error.retryable) return error
      throw error
    }
  }

  const frameIn = (message: Json, size: number): RecordFrame | undefined =>
    message["entity"] === view ? frameOf(message, size) : undefined

  /** What a message changes. Throws SvcError. */
  const receive = (message: Json, size: number): Change<T> | undefined => {
    if (message["type"] === "error") {
      const fault = faultOf(message, errors)
      if (!fault.retryable && message["fatal"] !== true) throw fault
    }
    if (message["op"] === "subscribed") {
      failures = 0
      subscribedAt = clock.now()
      state.sortBy(sortIn(message))
    }
    const frame = frameIn(message, size)
    everServed ||= frame !== undefined || message["op"] === "subscribed"
    const change = frame && state.apply(frame)
    // A snapshot stands for all changes before it; one that is incomplete is nothing to continue from.
    if (frame !== undefined) after = change && (frame.seq ?? (frame.op === "snapshot" ? undefined : after))
    return change
  }

  /** Whether the other half of this change is to come: what takes the place of a record in a window, or makes room for it. */
  const isHalf = ({ op }: Change<T>): boolean =>
    op === "delete" || (op === "upsert" && state.records().size > (take ?? Infinity))

  const completes = (half: Change<T>, message: Json): boolean => {
    const frame = frameIn(message, 0)
    if (frame === undefined || frame.op === "snapshot" || half.op === "snapshot" || frame.key === half.key) return false
    return half.op === "upsert" ? frame.op === "delete" : frame.op !== "delete" && !state.records().has(frame.key)
  }

  async function* read(socket: StreamSocket): AsyncGenerator<Watched<T>, Ended, void> {
    let held: Change<T> | undefined
    for (;;) {
      const event = await socket.next(held === undefined ? undefined : successorMs)
      if (event !== undefined && !("ended" in event)) report({ is: "silent" in event ? "unanswered" : "heard" })
      const message = event !== undefined && "message" in event ? event : undefined
      // Before the next change is applied: the records are one map.
      if (held !== undefined && !(message && completes(held, message.message))) {
        yield { records: state.records(), change: held }
        held = undefined
      }
      const change = message && receive(message.message, message.size)
      const whole = joined(held, change)
      if (held !== undefined && whole === undefined) yield { records: state.records(), change: held }
      held = whole === undefined && change !== undefined && isHalf(change) ? change : undefined
      const next = whole ?? (held === undefined ? change : undefined)
      if (next !== undefined) yield { records: state.records(), change: next }
      if (event !== undefined && "ended" in event) return event.ended
    }
  }

  /** Waits before the next attempt. Throws SvcError where there should be none. */
  const recover = async ({ opened, fault, cause }: Ended, token: string | undefined): Promise<void> => {
    state.interrupted()
    report({ is: "lost", error: fault })
    failures++
    // A server that fails after each subscription is asked ever less often.
    waits = clock.now() - subscribedAt < longestWaitMs ? waits + 1 : 1
    subscribedAt = Infinity
    const isTokens = fault?.code.startsWith("token-") === true
    if (fault !== undefined && !fault.retryable && !isTokens) throw fault
    if (!everServed && failures >= mostFirstTries) {
      // Most servers end a connection without a word, as after a message that is too large.
      const message = `${new URL(websocketUrl).origin} can't be reached, or refuses token, view or key`
      throw fault ?? errors.ownError("network-error", message, { retryable: true, cause })
    }
    // A server that does not open may have refused the token, which the WebSocket class does not tell.
    if (token !== undefined && (isTokens || (!opened && failures === 2))) {
      await session.renew(token).catch((error: unknown) => {
        if (!(error instanceof errors.SvcError && error.retryable)) throw error
      })
    }
    if (isTokens && waits === 1) return
    const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (waits - 1)) * (0.5 + clock.random() / 2)
    await clock.sleep(Math.max(waitMs, fault?.retryAfterMs ?? 0), signal)
  }

  try {
    while (!isLeft()) {
      const socket = await connect()
      if (socket instanceof errors.SvcError) {
        await recover({ opened: false, fault: socket }, undefined)
        continue
      }
      signal?.addEventListener("abort", socket.close)
      // A signal that aborted while the token came tells nobody any more.
      if (isLeft()) socket.close()
      let ended: Ended
      try {
        ended = yield* read(socket)
      } finally {
        signal?.removeEventListener("abort", socket.close)
        socket.close()
      }
      if (!isLeft()) await recover(ended, socket.token())
    }
  } catch (error) {
    if (error instanceof errors.SvcError) report({ is: "lost", error })
    throw error
  }
}
