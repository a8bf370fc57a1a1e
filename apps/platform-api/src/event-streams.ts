// Server-sent events, as every stream of the service sends them.
import type { Context } from "hono"
import type { HeaderDocs } from "./routes/create-route.ts"

export const commentMs = 15_000
/** How long a stream's slot stays taken after its replica dies. */
export const leaseMs = 30_000
// The most unread bytes that are kept for a client.
const mostWaitingBytes = 256 * 1024

export const eventStreamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "private, no-store",
  "x-accel-buffering": "no",
}

/** The response of a route that sends events. */
export const eventStream = (description: string) => ({
  description,
  content: { "text/event-stream": { schema: { type: "string" as const } } },
})

/** For routes that call `lastEventId`. */
export const resumed: HeaderDocs = {
  reads: { "Last-Event-ID": "The id of the last event received. Later events follow" },
}

/** The id after which a reconnecting client continues; undefined if it sent none, -1 for one that no event has. */
export const lastEventId = (c: Context): number | undefined => {
  const id = c.req.header("last-event-id")?.trim() ?? ""
  if (id === "") return undefined
  return /^\d{1,15}$/.test(id) ? Number(id) : -1
}

export const lostPlace =
  "was never issued, or is older than what is kept: begin again. Read everything, then continue without it"

const text = new TextEncoder()

export const commentOf = (words: string): Uint8Array => text.encode(`: ${words}\n\n`)

export const eventOf = (id: number, event: string, data: object): Uint8Array =>
  text.encode(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)

/** Tells a client that what it missed isn't known. Its next connection continues after `id`. */
export const beginAgain = (id: number): Uint8Array =>
  eventOf(id, "begin-again", { code: "invalid-request", error: `The id ${lostPlace}.`, retryable: false })

export type EventStream = {
  /** Sends an event. A client that leaves too much unread is disconnected. */
  readonly send: (event: Uint8Array) => void
  /** Resolves when the client has read enough that there is room, or when the stream has ended. */
  readonly room: () => Promise<void>
  readonly end: () => void
  readonly hasEnded: () => boolean
}

export type EventStreams = ReturnType<typeof createEventStreams>

/** Streams that send a comment after 15 quiet seconds and end when the service stops. */
export const createEventStreams = ({ stopping }: { readonly stopping: AbortSignal }) => {
  const open = new Set<EventStream>()
  stopping.addEventListener("abort", () => open.forEach((stream) => stream.end()), { once: true })

  return {
    /**
     * @param countWaiting told how many bytes wait for the client
     * @param start starts sending; the function it returns is called when the stream ends for any reason
     */
    open: (countWaiting: (bytes: number) => void, start: (stream: EventStream) => () => void) => {
      let left: (() => void) | undefined
      let ended = false
      let waiting: PromiseWithResolvers<void> | undefined
      let leave = (): void => {}
      const wake = (): void => {
        waiting?.resolve()
        waiting = undefined
      }
      const taken = ({ desiredSize }: ReadableStreamDefaultController<Uint8Array>): void => {
        countWaiting(mostWaitingBytes - (desiredSize ?? mostWaitingBytes))
        wake()
      }
      const begin = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        const stream: EventStream = {
          send: (event) => {
            if (ended) return
            timer.refresh()
            controller.enqueue(event)
            taken(controller)
            if ((controller.desiredSize ?? 0) > 0) return
            leave()
            controller.error(new Error("the client of an event stream doesn't read"))
          },
          room: async () => {
            while (!stream.hasEnded() && (controller.desiredSize ?? 0) < mostWaitingBytes / 2) {
              waiting ??= Promise.withResolvers()
              await waiting.promise
            }
          },
          end: () => {
            if (ended) return
            leave()
            controller.close()
          },
          hasEnded: () => ended,
        }
        const timer = setInterval(stream.send, commentMs, commentOf("still here")).unref()
        leave = () => {
          if (ended) return
          ended = true
          clearInterval(timer)
          open.delete(stream)
          wake()
          left?.()
        }
        open.add(stream)
        left = start(stream)
        if (ended) left()
        else if (stopping.aborted) stream.end()
      }
      return new ReadableStream<Uint8Array>(
        { start: begin, pull: taken, cancel: () => leave() },
        { highWaterMark: mostWaitingBytes, size: (event: Uint8Array) => event.length },
      )
    },
  }
}
