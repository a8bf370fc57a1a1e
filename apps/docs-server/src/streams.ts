const keepAliveMs = 15_000
const lifetimeMs = 5 * 60_000

/** The event streams that are open: bounded in number, by client and in time, and all closed with the server. */
export type Streams = {
  /** Opens the stream of GET /mcp; undefined when no more may be open. */
  readonly open: (client: string) => ReadableStream<Uint8Array> | undefined
  /** Puts another's stream under the same bounds; undefined, and the stream cancelled, when no more may be open. */
  readonly adopt: (client: string, stream: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array> | undefined
  readonly size: () => number
  readonly closeAll: () => void
}

const comment = (text: string): Uint8Array => new TextEncoder().encode(`: ${text}\n\n`)

export const createStreams = ({ max = 256, maxPerClient = 8 } = {}): Streams => {
  const open = new Set<() => void>()
  const byClient = new Map<string, number>()
  let closed = false

  const start = (
    client: string,
    run: (controller: ReadableStreamDefaultController<Uint8Array>, end: () => void) => () => void,
  ): ReadableStream<Uint8Array> | undefined => {
    const own = byClient.get(client) ?? 0
    if (closed || open.size >= max || own >= maxPerClient) return undefined
    byClient.set(client, own + 1)
    let release = () => {}
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        let stop = () => {}
        release = () => {
          if (!open.delete(end)) return
          clearTimeout(timer)
          const left = (byClient.get(client) ?? 1) - 1
          if (left === 0) byClient.delete(client)
          else byClient.set(client, left)
          stop()
        }
        const end = () => {
          release()
          try {
            controller.close()
          } catch {
            // The client went away in the same moment.
          }
        }
        const timer = setTimeout(end, lifetimeMs)
        open.add(end)
        stop = run(controller, end)
      },
      cancel: () => release(),
    })
  }

  return {
    open: (client) =>
      start(client, (controller) => {
        controller.enqueue(comment("open"))
        const timer = setInterval(() => {
          // A client that does not read gets no more until it does.
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(comment("keep-alive"))
        }, keepAliveMs)
        return () => clearInterval(timer)
      }),
    adopt: (client, stream) => {
      const reader = stream.getReader()
      const cancel = () => {
        reader.cancel().catch(() => {})
      }
      const adopted = start(client, (controller, end) => {
        const pump = async (): Promise<void> => {
          for (let part = await reader.read(); !part.done; part = await reader.read()) controller.enqueue(part.value)
        }
        pump().then(end, end)
        return cancel
      })
      if (adopted === undefined) cancel()
      return adopted
    },
    size: () => open.size,
    closeAll: () => {
      closed = true
      for (const end of open) end()
    },
  }
}
