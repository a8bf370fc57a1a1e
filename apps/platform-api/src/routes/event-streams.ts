// Server-sent events, as every stream of the service sends them.
import { requestHeader } from "@svc/http"
import type { Context } from "hono"

const beatMs = 5000
const commentMs = 15_000
/** How long a stream's slot stays taken after its replica dies. */
export const leaseMs = 30_000
// The most unread bytes that are kept for a client.
const mostWaitingBytes = 256 * 1024

const comment = new TextEncoder().encode(": still here\n\n")

export const eventStreamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "private, no-store",
  "x-accel-buffering": "no",
}

/** The id after which a reconnecting client continues; undefined if it sent no valid one. */
export const lastEventId = (c: Context): number | undefined => {
  const id = requestHeader(c, "last-event-id")
  return id !== undefined && /^\d{1,15}$/.test(id) ? Number(id) : undefined
}

export type EventStream = {
  /** Sends an event. A client that leaves too much unread is disconnected. */
  readonly send: (event: Uint8Array) => void
  /** Resolves when the client has read enough that there is room, or when the stream has ended. */
  readonly room: () => Promise<void>
  readonly end: () => void
  readonly hasEnded: () => boolean
}

export type EventStreams = {
  /** @param start starts sending; the function it returns is called when the stream ends for any reason */
  readonly open: (start: (stream: EventStream) => () => void) => Response
}

/** Streams that send a comment every 15 s and end when the service stops. */
export const createEventStreams = (dependencies: { readonly stopping: AbortSignal }): EventStreams => {
  const open = new Map<EventStream, { quietMs: number }>()
  let timer: NodeJS.Timeout | undefined

  // One timer for all, because thousands of streams may be idle.
  const beat = (): void => {
    for (const [stream, state] of open) {
      state.quietMs += beatMs
      if (state.quietMs >= commentMs) stream.send(comment)
    }
  }
  const add = (stream: EventStream, state: { quietMs: number }): void => {
    if (timer === undefined) {
      timer = setInterval(beat, beatMs).unref()
      const endAll = () => open.forEach((_, one) => one.end())
      dependencies.stopping.addEventListener("abort", endAll, { once: true })
    }
    open.set(stream, state)
  }

  return {
    open: (start) => {
      const state = { quietMs: 0 }
      let left: (() => void) | undefined
      let ended = false
      let waiting: PromiseWithResolvers<void> | undefined
      let stream: EventStream | undefined
      const leave = (): void => {
        if (ended) return
        ended = true
        waiting?.resolve()
        if (stream !== undefined) open.delete(stream)
        left?.()
      }
      const body = new ReadableStream<Uint8Array>(
        {
          start: (controller) => {
            stream = {
              send: (event) => {
                if (ended) return
                state.quietMs = 0
                controller.enqueue(event)
                if ((controller.desiredSize ?? 0) > 0) return
                leave()
                controller.error(new Error("the client of an event stream doesn't read"))
              },
              room: async () => {
                const isFull = () => !ended && (controller.desiredSize ?? 0) < mostWaitingBytes / 2
                while (isFull()) {
                  waiting ??= Promise.withResolvers()
                  await waiting.promise
                }
              },
              end: () => {
                const wasOpen = !ended
                leave()
                if (wasOpen) controller.close()
              },
              hasEnded: () => ended,
            }
            add(stream, state)
            left = start(stream)
            if (ended) left()
            else if (dependencies.stopping.aborted) stream.end()
          },
          pull: () => {
            waiting?.resolve()
            waiting = undefined
          },
          cancel: leave,
        },
        { highWaterMark: mostWaitingBytes, size: (event: Uint8Array) => event.length },
      )
      return new Response(body, { headers: eventStreamHeaders })
    },
  }
}
