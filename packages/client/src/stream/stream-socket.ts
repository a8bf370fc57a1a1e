import { parseExactly } from "@svc/common/exact-json"
import type { Clock } from "../http/clock.ts"
import type { asSvcError, ownError, SvcError } from "../http/error.ts"
import { isObject, type Json, parseJson, textOf } from "../http/json.ts"
import { lifeOf, type Session } from "../platform/session.ts"
import { most } from "./stream-records.ts"

/** The library's errors. */
export type Errors = {
  readonly SvcError: typeof SvcError
  readonly asSvcError: typeof asSvcError
  readonly ownError: typeof ownError
}

/** What the library needs of a WebSocket class: that of browsers, of Node 22 and newer, and of the package `ws` have it. */
export type WebSocketClass = new (
  url: string,
  protocols: string[],
) => {
  readonly send: (text: string) => void
  readonly close: (code?: number) => void
  // Methods, because each class types its events differently.
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: "open" | "close", listener: () => void): void
  addEventListener(type: "error", listener: (event: object) => void): void
}

/**
 * How a connection ended: whether the server had taken it, the last error that it sent, and what the runtime says about it. Browsers
 * say nothing.
 */
export type Ended = { readonly opened: boolean; readonly fault: SvcError | undefined; readonly cause?: unknown }

/** What comes from a connection: messages, that the server doesn't respond, and at last its end. */
type SocketEvent =
  | { readonly message: Json; readonly size: number }
  | { readonly silent: true }
  | { readonly ended: Ended }

export type SocketOptions = {
  readonly url: string
  readonly session: Session
  readonly webSocket: WebSocketClass
  readonly clock: Clock
  readonly errors: Errors
  /** The first message, once the connection is open. */
  readonly hello: () => object
}

/** A frame, in which a whole number that a JavaScript number can't hold is a decimal string, as 64-bit integers are anyway. */
const parseFrame = (text: string): unknown => {
  if (!/\d{16}/.test(text)) return parseJson(text)
  try {
    return parseExactly(text, (source, value) => (/^-?\d+$/.test(source) ? source : value))
  } catch {
    return parseJson(text)
  }
}

const subprotocol = "svc.stream.v1"
/** When nothing has come for so long, the server is asked for a response. */
const quietMs = 10_000
/** A server that doesn't respond within this time is silent. */
const responseMs = 5000
/** A connection whose server stays silent for so long is given up. */
const silentMs = 15_000
/** For so long a reader of what has come already keeps timers, signals and other connections waiting. */
const turnMs = 20

/** The error for a stream of which nobody could keep what it sends. */
export const tooLarge = ({ ownError }: Errors): SvcError =>
  ownError("snapshot-too-large", `The view has over ${most.records} records or ${most.characters} characters`, {
    hint: "Watch fewer of them: take, or another view.",
  })

/** An error message of a stream server. */
export const faultOf = (message: Json, errors: Errors): SvcError => {
  const seconds = message["retry_after"]
  return new errors.SvcError({
    status: 0,
    code: textOf(message, "code") ?? "unexpected-answer",
    message: textOf(message, "message") ?? "The stream reports an error",
    hint: textOf(message, "suggested_action"),
    retryable: message["retryable"] === true,
    // As for the services: nobody asks for more than an hour.
    retryAfterMs: typeof seconds === "number" && seconds <= 3600 ? seconds * 1000 : undefined,
  })
}

/**
 * A connection to a stream, whose token is renewed on it. `next` gives what comes from it one by one, then how it ended;
 * `close` ends it.
 */
export const openSocket = async ({ url, session, webSocket, clock, errors, hello }: SocketOptions) => {
  const queue: SocketEvent[] = []
  let wake = (): void => {}
  let opened = false
  let fault: SvcError | undefined
  let cause: unknown
  /** How many characters wait for the reader. */
  let unread = 0
  const closing = new AbortController()
  let token = await session.token()
  const socket = new webSocket(url, [subprotocol, `bearer.${token}`])
  let heardAt = clock.now()
  let turnBegan: number | undefined

  const add = (event: SocketEvent): void => {
    queue.push(event)
    wake()
  }
  const end = (): void => {
    if (closing.signal.aborted) return
    closing.abort()
    add({ ended: { opened, fault, cause } })
  }

  const sendToken = (): void => socket.send(JSON.stringify({ type: "refresh_auth", token }))
  const renew = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await clock.sleep(lifeOf(token) / 20, closing.signal)
      const newest = await session.token().catch(() => token)
      if (newest === token || closing.signal.aborted) continue
      token = newest
      sendToken()
    }
  }
  const close = (): void => {
    end()
    socket.close(1000)
  }
  /** Whether something came since `time`, or comes within `ms`. */
  const isHeard = async (time: number, ms: number): Promise<boolean> => {
    await clock.sleep(ms, closing.signal)
    return heardAt > time || closing.signal.aborted
  }
  /** Asks a quiet server for a response. A ping has none in the protocol, a token has. A server that doesn't open the connection is quiet too. */
  const probe = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await clock.sleep(Math.max(1, heardAt + quietMs - clock.now()), closing.signal)
      const last = heardAt
      if (clock.now() < last + quietMs || closing.signal.aborted) continue
      if (opened) sendToken()
      if (await isHeard(last, responseMs)) continue
      add({ silent: true })
      if (!(await isHeard(last, silentMs))) close()
    }
  }

  socket.addEventListener("open", () => {
    opened = true
    socket.send(JSON.stringify(hello()))
    heardAt = clock.now()
    void renew()
  })
  socket.addEventListener("message", ({ data }) => {
    if (closing.signal.aborted) return
    heardAt = clock.now()
    const text = String(data)
    const size = text.length
    if (size > most.characters) fault = tooLarge(errors)
    // A reader that is too slow gets the rest on another connection.
    if (unread + size > most.characters) return close()
    const message = parseFrame(text)
    if (!isObject(message)) return
    unread += size
    add({ message, size })
    if (message["type"] !== "error") return
    fault = faultOf(message, errors)
    // The server doesn't say whether what was asked for still comes.
    close()
  })
  // In Node 22 no close event follows it if the connection never opened.
  socket.addEventListener("error", (event) => {
    if ("error" in event) cause = event.error
    end()
  })
  socket.addEventListener("close", end)
  void probe()

  return {
    /** The newest token that the server was given. */
    token: (): string => token,
    /** @param ms how long to wait; then it gives undefined */
    next: async (ms?: number): Promise<SocketEvent | undefined> => {
      const waited = new AbortController()
      const come = new Promise<void>((resolve) => {
        wake = resolve
      })
      if (queue.length === 0) await (ms === undefined ? come : Promise.race([come, clock.sleep(ms, waited.signal)]))
      waited.abort()
      if (turnBegan === undefined) {
        turnBegan = clock.now()
        void clock.sleep(0).then(() => (turnBegan = undefined))
      } else if (clock.now() - turnBegan > turnMs) await clock.sleep(0)
      const event = queue.shift()
      if (event !== undefined && "size" in event) unread -= event.size
      return event
    },
    close,
  }
}

export type StreamSocket = Awaited<ReturnType<typeof openSocket>>
