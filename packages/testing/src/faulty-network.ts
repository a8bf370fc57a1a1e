import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { setTimeout as delay } from "node:timers/promises"

type Pair = { readonly client: Socket; readonly upstream: Socket; left: number; sent: Promise<unknown> }

/** A network between a client and a server on this machine that can do what networks do. */
export const startFaultyNetwork = async (target: number) => {
  const pairs = new Set<Pair>()
  let held: "answers" | "all" | "nothing" = "nothing"
  let budget: (() => number) | undefined
  let delayMs = 0
  let replies = 0
  const apply = ({ client, upstream }: Pair): void => {
    if (held === "all") client.pause()
    else client.resume()
    if (held === "nothing") upstream.resume()
    else upstream.pause()
  }
  const destroy = ({ client, upstream }: Pair): void => {
    client.destroy()
    upstream.destroy()
  }
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1")
    const pair: Pair = { client, upstream, left: budget?.() ?? Infinity, sent: Promise.resolve() }
    pairs.add(pair)
    const send = (bytes: Buffer): void => {
      client.write(bytes.subarray(0, pair.left))
      pair.left -= bytes.length
      if (pair.left <= 0) client.end(() => client.resetAndDestroy())
    }
    client.on("data", (bytes) => upstream.write(bytes))
    upstream.on("data", (bytes: Buffer) => {
      replies++
      pair.sent = Promise.all([pair.sent, delayMs > 0 && delay(delayMs)]).then(() => send(bytes))
    })
    for (const socket of [client, upstream])
      socket
        .on("error", () => destroy(pair))
        .on("close", () => {
          pairs.delete(pair)
          destroy(pair)
        })
    apply(pair)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    /** New connections lead to this port from now on, as after a failover. */
    lead: (port: number): void => {
      target = port
    },
    /** Resets every connection now. */
    resetAll: (): void => {
      for (const { client, upstream } of pairs) {
        client.resetAndDestroy()
        upstream.resetAndDestroy()
      }
    },
    /** Resets each connection after so many more bytes of answers; undefined for no longer. */
    cutAfter: (bytes: (() => number) | undefined): void => {
      budget = bytes
      for (const pair of pairs) pair.left = bytes?.() ?? Infinity
    },
    /** Bytes of one or both directions stay on the way, as a network without a route keeps them, until they are let go. */
    hold: (what: typeof held): void => {
      held = what
      pairs.forEach(apply)
    },
    /** Answers arrive so many milliseconds late from now on, in their order. */
    delayAnswers: (ms: number): void => {
      delayMs = ms
    },
    /** How many pieces the server has sent so far. */
    replies: () => replies,
    close: async (): Promise<void> => {
      pairs.forEach(destroy)
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type FaultyNetwork = Awaited<ReturnType<typeof startFaultyNetwork>>
