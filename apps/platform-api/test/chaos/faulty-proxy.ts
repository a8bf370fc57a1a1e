import { connect, createServer, type Socket } from "node:net"

export type FaultyProxy = {
  readonly port: number
  /** Resets every connection now. */
  readonly resetAll: () => void
  /** Resets each connection after so many more bytes of answers; undefined for no longer. */
  readonly cutAfter: (bytes: (() => number) | undefined) => void
  /** Bytes of one or both directions stay on the way, as a network without a route keeps them, until they are let go. */
  readonly hold: (what: "answers" | "all" | "nothing") => void
  readonly close: () => Promise<void>
}

type Pair = { readonly client: Socket; readonly upstream: Socket; left: number }

/** A network between the service and its database that can do what networks do. */
export const startFaultyProxy = async (target: number): Promise<FaultyProxy> => {
  const pairs = new Set<Pair>()
  let held: "answers" | "all" | "nothing" = "nothing"
  let budget: (() => number) | undefined
  const apply = ({ client, upstream }: Pair): void => {
    if (held === "all") client.pause()
    else client.resume()
    if (held === "nothing") upstream.resume()
    else upstream.pause()
  }
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1")
    const pair: Pair = { client, upstream, left: budget?.() ?? Infinity }
    pairs.add(pair)
    const end = (): void => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    client.on("data", (bytes) => upstream.write(bytes))
    upstream.on("data", (bytes: Buffer) => {
      client.write(bytes.subarray(0, pair.left))
      pair.left -= bytes.length
      if (pair.left <= 0) client.end(() => client.resetAndDestroy())
    })
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end)
    apply(pair)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    resetAll: () => {
      for (const { client, upstream } of pairs) {
        client.resetAndDestroy()
        upstream.resetAndDestroy()
      }
    },
    cutAfter: (bytes) => {
      budget = bytes
      for (const pair of pairs) pair.left = bytes?.() ?? Infinity
    },
    hold: (what) => {
      held = what
      pairs.forEach(apply)
    },
    close: async () => {
      for (const { client, upstream } of pairs) {
        client.destroy()
        upstream.destroy()
      }
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
