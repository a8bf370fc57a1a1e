import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A request that a receiver was sent. */
export type Received = {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** An HTTP server on this machine that keeps what it is sent, and answers `{}` until a test says otherwise. */
export const startReceiver = async () => {
  let answer: (request: Received, response: ServerResponse) => void = (_request, response) => response.end("{}")
  const received: Received[] = []
  const wake: (() => void)[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const { method = "", url = "", headers } = request
      const one = { method, url, headers, body: Buffer.concat(chunks) }
      received.push(one)
      answer(one, response)
      for (const resolve of wake.splice(0)) resolve()
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: received as readonly Received[],
    /** Answers so from now on. */
    answer: (next: typeof answer): void => {
      answer = next
    },
    /** Resolves once that many requests have come. */
    count: async (wanted: number): Promise<void> => {
      while (received.length < wanted) await new Promise<void>((resolve) => wake.push(resolve))
    },
    close: async (): Promise<void> => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
