const keepAliveMs = 15_000
export const lifetimeMs = 5 * 60_000

/** The open event streams: limited in number, per client and in time. They all close with the server. */
export type Streams = {
  /** Opens the stream of GET /mcp; undefined when no more may be open. */
  readonly open: (client: string) => ReadableStream<Uint8Array> | undefined
  /** How many a client has open. */
  readonly countOf: (client: string) => number
  readonly size: () => number
  readonly closeAll: () => void
}

const comment = (text: string): Uint8Array => new TextEncoder().encode(`: ${text}\n\n`)

export const maxStreams = 256
export const maxStreamsPerClient = 8

export const createStreams = (): Streams => {
  const open = new Set<() => void>()
  const byClient = new Map<string, number>()
  let closed = false

  const countOf = (client: string): number => byClient.get(client) ?? 0
  return {
    countOf,
    open: (client) => {
      if (closed || open.size >= maxStreams) return undefined
      byClient.set(client, countOf(client) + 1)
      let release = () => {}
      return new ReadableStream<Uint8Array>({
        start: (controller) => {
          release = () => {
            if (!open.delete(end)) return
            clearTimeout(lifetime)
            clearInterval(keepAlive)
            const left = countOf(client) - 1
            if (left === 0) byClient.delete(client)
            else byClient.set(client, left)
          }
          const end = () => {
            release()
            controller.close()
          }
          const lifetime = setTimeout(end, lifetimeMs)
          const keepAlive = setInterval(() => {
            // Don't buffer for a client that doesn't read.
            if ((controller.desiredSize ?? 0) > 0) controller.enqueue(comment("keep-alive"))
          }, keepAliveMs)
          open.add(end)
          controller.enqueue(comment("open"))
        },
        cancel: () => release(),
      })
    },
    size: () => open.size,
    closeAll: () => {
      closed = true
      for (const end of open) end()
    },
  }
}
