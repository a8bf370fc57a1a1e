import { connect, createServer, type Socket } from "node:net"

export type StallingProxy = {
  readonly port: number
  /** `stall` takes connections and bytes and says nothing, as a frozen server or a dead network does. */
  mode: "pass" | "stall" | "refuse"
  /** Connections that are open now. */
  readonly open: () => number
  readonly close: () => Promise<void>
}

/** Stands between a client and a server on this machine. */
export const startStallingProxy = async (target: number): Promise<StallingProxy> => {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    if (proxy.mode === "refuse") {
      client.resetAndDestroy()
      return
    }
    const upstream = connect(target, "127.0.0.1")
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      // What is said in a stall is lost for ever, like the connection it was said on.
      from.on("data", (bytes) => proxy.mode === "pass" && to.write(bytes))
      from.on("error", () => from.destroy())
      from.on("close", () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const proxy: StallingProxy = {
    port: typeof address === "object" && address !== null ? address.port : 0,
    mode: "pass",
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return proxy
}
