// A stream server that breaks the protocol: the local stream behind a proxy that changes what passes.
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { WebSocket, WebSocketServer } from "ws"

export type Breakage = {
  /** What the stream gets instead of the client's credentials. */
  readonly headers?: (headers: IncomingHttpHeaders) => Readonly<Record<string, string>>
  /** What the client gets instead of a refusal. */
  readonly refusal?: { readonly status: number; readonly body: string }
  /** Doesn't select the subprotocol. */
  readonly selectsNothing?: true
  readonly toClient?: (message: string) => string
  readonly toServer?: (message: string) => string
}

const same = (text: string): string => text

export const startBrokenStream = async (target: string, breakage: Breakage) => {
  const { headers: change, refusal, selectsNothing, toClient = same, toServer = same } = breakage
  const server = createServer()
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (protocols) => (selectsNothing ? false : ([...protocols][0] ?? false)),
  })
  server.on("upgrade", (request, socket, head) => {
    const { authorization, "sec-websocket-protocol": offered } = request.headers
    const headers = change?.(request.headers) ?? (authorization === undefined ? {} : { authorization })
    const protocols = offered?.split(/\s*,\s*/) ?? []
    const upstream = new WebSocket(new URL(request.url ?? "/", target), protocols, { headers })
    upstream.on("error", () => {})
    upstream.on("unexpected-response", (_request, response) => {
      const { status, body } = refusal ?? { status: response.statusCode ?? 500, body: undefined }
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () => {
        const text = body ?? Buffer.concat(chunks).toString()
        socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
      })
    })
    upstream.on("open", () => {
      sockets.handleUpgrade(request, socket, head, (client) => {
        client.on("message", (data: Buffer) => upstream.send(toServer(data.toString())))
        client.on("close", () => upstream.terminate())
        upstream.on("message", (data: Buffer) => client.send(toClient(data.toString())))
        upstream.on("close", (code, reason) => client.close(code === 1006 ? 1011 : code, String(reason)))
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: (): void => {
      for (const client of sockets.clients) client.terminate()
      server.close()
      server.closeAllConnections()
    },
  }
}
