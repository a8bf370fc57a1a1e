import { connect, createServer, type Socket } from "node:net"
import { setTimeout as delay } from "node:timers/promises"

export type SlowPath = {
  readonly port: number
  /** How long what the server says is on its way, in milliseconds. */
  delayMs: number
  /** How many pieces the server has said so far. */
  readonly replies: () => number
  readonly close: () => Promise<void>
}

/** Stands between a client and a server on this machine, and lets the server's words come late, in their order. */
export const startSlowPath = async (target: number): Promise<SlowPath> => {
  const sockets = new Set<Socket>()
  let replies = 0
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1")
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.on("error", () => one.destroy())
      one.on("close", () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    client.on("data", (bytes) => upstream.write(bytes))
    let said: Promise<unknown> = Promise.resolve()
    upstream.on("data", (bytes) => {
      replies++
      const arrives = Promise.all([said, path.delayMs > 0 && delay(path.delayMs)])
      said = arrives.then(() => client.write(bytes))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const path: SlowPath = {
    port: typeof address === "object" && address !== null ? address.port : 0,
    delayMs: 0,
    replies: () => replies,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return path
}
