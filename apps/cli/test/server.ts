import { createServer, type IncomingHttpHeaders } from "node:http"

export type Received = {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Reply = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON unless it is text or bytes; undefined for an answer that never comes. */
  readonly body: unknown
}

export type TestServer = { readonly url: string; readonly received: Received[]; readonly close: () => Promise<void> }

/** A real HTTP server on a free loopback port that answers as it is told and keeps what it got. */
export const startServer = async (answer: (request: Received) => Reply | Promise<Reply>): Promise<TestServer> => {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      void (async () => {
        const { method = "", url: target = "", headers } = request
        const one = { method, target, headers, body: Buffer.concat(chunks).toString() }
        received.push(one)
        const { status = 200, headers: extra = {}, body } = await answer(one)
        if (body === undefined) return
        const raw = typeof body === "string" || Buffer.isBuffer(body)
        response.writeHead(status, { "content-type": "application/json", ...extra })
        response.end(raw ? body : JSON.stringify(body))
      })()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (typeof address !== "object" || address === null) throw new Error("no port")
  return {
    url: `http://127.0.0.1:${address.port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
