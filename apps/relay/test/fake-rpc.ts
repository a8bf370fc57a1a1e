import { createServer, type Socket } from "node:net"

/** A JSON-RPC request as it was on the wire. */
export type RpcRequest = {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
  /** The whole body, and its head. */
  readonly text: string
  readonly head: string
}

/** The reaction of the upstream to one request: it writes these bytes, then does this. */
export type Reply = {
  readonly write?: string | Buffer
  readonly after: "keep" | "end" | "reset" | "stall"
}

export type Script = (request: RpcRequest) => Reply

export const http = (status: number, body: string | Buffer, headers: Record<string, string> = {}): Buffer => {
  const lines = Object.entries({ "content-type": "application/json", ...headers }).map(([k, v]) => `${k}: ${v}\r\n`)
  const head = `HTTP/1.1 ${status} Scripted\r\n${lines.join("")}content-length: ${Buffer.byteLength(body)}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(body)])
}

/** Responds with a JSON text. */
export const raw = (body: string | Buffer, status = 200): Reply => ({ write: http(status, body), after: "keep" })

/** `json` is a JSON text, so a script can write any number. */
export const result = ({ id }: RpcRequest, json: string): Reply => raw(`{"jsonrpc":"2.0","id":${id},"result":${json}}`)

export const rpcError = ({ id }: RpcRequest, error: Record<string, unknown>, status = 200): Reply =>
  raw(JSON.stringify({ jsonrpc: "2.0", id, error: { message: "", ...error } }), status)

const contentLength = (head: string): number => Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0)

/**
 * An upstream that does whatever a test scripts. It uses raw TCP, so it can stop at any byte.
 * @param genesisHash the hash of its chain
 * @param date its Date header, if it sends one
 */
export const startFakeRpc = async (genesisHash = "4uhcVJyU9pJkvQyS88uRDiswHScwcCRADnUfQTmSpU4M", date?: string) => {
  let script: Script = (request) => result(request, "null")
  let atConnect: "serve" | "reset" | "silence" = "serve"
  const requests: RpcRequest[] = []
  const sockets = new Set<Socket>()
  let wake: (() => void)[] = []
  let seen = ""

  const serveSocket = (socket: Socket): void => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => sockets.delete(socket))
    if (atConnect === "reset") socket.resetAndDestroy()
    if (atConnect !== "serve") {
      socket.resume()
      return
    }
    let pending = Buffer.alloc(0)
    socket.on("data", (chunk: Buffer) => {
      seen += chunk.toString("latin1")
      pending = Buffer.concat([pending, chunk])
      const end = pending.indexOf("\r\n\r\n")
      if (end === -1) return
      const head = pending.subarray(0, end).toString("latin1")
      const size = end + 4 + contentLength(head)
      if (pending.length < size) return
      const text = pending.subarray(end + 4, size).toString()
      pending = pending.subarray(size)
      const request: RpcRequest = { ...(JSON.parse(text) as RpcRequest), text, head }
      // A relay requests it at its start, and no script expects it.
      if (request.method === "getGenesisHash") {
        const body = `{"jsonrpc":"2.0","id":${request.id},"result":"${genesisHash}"}`
        socket.write(http(200, body, date === undefined ? {} : { date }))
        return
      }
      requests.push(request)
      const reply = script(request)
      const done = (): void => {
        if (reply.after === "end") socket.end()
        if (reply.after === "reset") socket.resetAndDestroy()
      }
      if (reply.write === undefined) done()
      else socket.write(reply.write, done)
      for (const resolve of wake) resolve()
      wake = []
    })
  }

  const server = createServer(serveSocket)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    /** Every byte that arrived. */
    seen: () => seen,
    script: (next: Script) => (script = next),
    onConnect: (next: typeof atConnect) => (atConnect = next),
    /** Resolves once this number of requests has arrived in all. */
    received: async (count: number): Promise<void> => {
      while (requests.length < count) await new Promise<void>((resolve) => wake.push(resolve))
    },
    /** Breaks every open connection. */
    cut: () => {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    close: async (): Promise<void> => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type FakeRpc = Awaited<ReturnType<typeof startFakeRpc>>
