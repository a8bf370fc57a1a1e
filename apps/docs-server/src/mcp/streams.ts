import { bucketNetwork } from "@svc/http"
import { addressesPerNetwork } from "@svc/limits"

const keepAliveMs = 15_000
export const lifetimeMs = 5 * 60_000

/** The open event streams: limited in number per client and network, and in time. They all close with the server. */
export type Streams = {
  /** Opens the stream of GET /mcp; undefined when the client or its network may open no more. */
  readonly open: (client: string) => ReadableStream<Uint8Array> | undefined
  readonly size: () => number
  readonly closeAll: () => void
}

const comment = (text: string): Uint8Array => new TextEncoder().encode(`: ${text}\n\n`)

export const maxStreamsPerClient = 8

export const createStreams = (): Streams => {
  const open = new Set<() => void>()
  /** How many each client has open, and each network. */
  const counts = new Map<string, number>()
  let closed = false

  const count = (names: readonly string[], change: 1 | -1): void => {
    for (const name of names) {
      const left = (counts.get(name) ?? 0) + change
      if (left === 0) counts.delete(name)
      else counts.set(name, left)
    }
  }
  const isFull = (name: string, limit: number): boolean => (counts.get(name) ?? 0) >= limit
  return {
    open: (client) => {
      const network = bucketNetwork(client)
      if (closed || isFull(client, maxStreamsPerClient)) return undefined
      if (isFull(network, addressesPerNetwork * maxStreamsPerClient)) return undefined
      const names = [...new Set([client, network])]
      count(names, 1)
      let release = () => {}
      return new ReadableStream<Uint8Array>({
        start: (controller) => {
          release = () => {
            if (!open.delete(end)) return
            clearTimeout(lifetime)
            clearInterval(keepAlive)
            count(names, -1)
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
