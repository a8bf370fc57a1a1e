import type { IncomingHttpHeaders } from "node:http"
import { startReceiver } from "@svc/testing"
import { afterAll, onTestFinished } from "vitest"

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

export type Answer = (request: Received) => Reply | Promise<Reply>

const start = async (answer: Answer) => {
  const { url, close, answer: answerWith } = await startReceiver()
  const received: Received[] = []
  answerWith(({ url: target, ...request }, response) => {
    const one = { ...request, target, body: String(request.body) }
    received.push(one)
    const reply = async () => {
      const { status = 200, headers, body } = await answer(one)
      if (body === undefined) return
      const isRaw = typeof body === "string" || Buffer.isBuffer(body)
      response.writeHead(status, { "content-type": "application/json", ...headers })
      response.end(isRaw ? body : JSON.stringify(body))
    }
    void reply()
  })
  return { url, received, close }
}

/** A real HTTP server on a free loopback port that answers as it is told and keeps what it got, until the file's tests are done. */
export const startServer = async (answer: Answer) => {
  const server = await start(answer)
  afterAll(server.close)
  return server
}

/** Such a server until the test that runs is finished. */
export const serve = async (answer: Answer) => {
  const server = await start(answer)
  onTestFinished(server.close)
  return server
}
