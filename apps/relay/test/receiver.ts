import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

type Received = {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** An HTTP server that keeps what it is sent and answers as the test says. */
export const startReceiver = async () => {
  let answer: (request: Received, response: ServerResponse) => void = (_request, response) => response.end("{}")
  const received: Received[] = []
  let wake: (() => void)[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const { method = "", url = "", headers } = request
      const one = { method, url, headers, body: Buffer.concat(chunks).toString("latin1") }
      received.push(one)
      answer(one, response)
      for (const resolve of wake) resolve()
      wake = []
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answer: (next: typeof answer) => (answer = next),
    count: async (wanted: number): Promise<void> => {
      while (received.length < wanted) await new Promise<void>((resolve) => wake.push(resolve))
    },
    close: async (): Promise<void> => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
