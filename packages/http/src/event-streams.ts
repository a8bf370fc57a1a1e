// Server-sent events.
import { visibleJson } from "@svc/common/foreign-text"

/** How long a stream is silent before a comment is sent. */
export const commentMs = 15_000
// The most unread bytes that are kept for a client.
const mostWaitingBytes = 256 * 1024

const text = new TextEncoder()

/** A comment, which clients ignore (HTML standard, 9.2.6). */
export const commentOf = (words: string): Uint8Array => text.encode(`: ${words}\n\n`)

/** An event with its data as JSON on one line. Some clients also end a line at signs that JSON leaves as they are. */
export const eventOf = (id: number, event: string, data: object): Uint8Array =>
  text.encode(`id: ${id}\nevent: ${event}\ndata: ${visibleJson(JSON.stringify(data))}\n\n`)

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
    size: (): number => open.size,
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
        const timer = setInterval(stream.send, commentMs, commentOf("keep-alive")).unref()
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
