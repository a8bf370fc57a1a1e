import { type Clock, systemClock } from "../http/clock.ts"
import { asSvcError, ownError, SvcError } from "../http/error.ts"
import type { StackSchema } from "../generated/answers.ts"
import type { Session } from "../platform/session.ts"
import type { WebSocketClass } from "./stream-socket.ts"
import type { Watched, WatchOptions } from "./stream-watch.ts"

export type StreamOptions = {
  /** The stack's `websocket_url`, as the registry writes it. */
  readonly websocketUrl: string
  /** A session with the scope `read`, made for the same URL. */
  readonly session: Session
  /** The stack's schema, by which `where` knows a view's fields and their types. */
  readonly schema?: StackSchema | undefined
  /** Where the runtime has no global WebSocket, as in Node 20: a class such as that of the package `ws`. */
  readonly webSocket?: WebSocketClass | undefined
  /** For tests. */
  readonly clock?: Clock | undefined
}

/**
 * A stack's live data. Every watched view has a connection of its own, which is opened again whenever it is lost, with
 * growing waits; what was missed is made up for, and the token is renewed on the connection.
 *
 * @throws TypeError where there is no WebSocket class.
 * @example
 * const stream = createStream({ websocketUrl, session: createSession({ platform, websocketUrl, scope: "read" }) })
 * for await (const { records, change } of stream.watch("SolTransfer/latest", { take: 10 })) render(records, change)
 */
export const createStream = ({ websocketUrl, session, schema, webSocket, clock = systemClock }: StreamOptions) => {
  const known: WebSocketClass | undefined = webSocket ?? globalThis.WebSocket
  if (known === undefined) throw new TypeError("This runtime has no WebSocket: pass webSocket, such as that of ws")
  const source = { websocketUrl, session, socketClass: known, clock, errors: { asSvcError, ownError, SvcError } }

  /**
   * The records of a view, first all of them and then after each change.
   *
   * Throws SvcError for what another attempt would not mend: `view-not-found`, `field-not-found` and `invalid-where`, a limit
   * of the token, `snapshot-too-large`, a key that is refused, and `network-error` when the first connections all end without the view.
   */
  async function* watch<T = unknown>(view: string, options: WatchOptions = {}): AsyncGenerator<Watched<T>, void, void> {
    const { watchView } = await import("./stream-watch.ts")
    const steps = watchView<T>(source, view, options)
    const { where } = options
    if (where === undefined) yield* steps
    else yield* (await import("./where.ts")).filtered(steps, { view, where, schema, errors: source.errors })
  }

  return { watch }
}

/** What `createStream` makes. */
export type Stream = ReturnType<typeof createStream>
