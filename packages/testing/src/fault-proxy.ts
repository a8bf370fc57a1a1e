import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"

/**
 * What a proxy does to one request, beside passing it on.
 * - `drop-request`: cuts the connection, nothing is passed on
 * - `stall-request`: passes nothing on and never answers
 * - `drop-answer`, `stall-answer`, `cut-answer`: passes it on, then cuts, never answers, or breaks off half way
 * - `late-request`: passes it on late, even when the client has gone meanwhile
 * - `late-answer`: passes it on, answers late
 * - `duplicate`: after an answer of 200 passes the same request on once more; the client gets the first answer
 * - `bad-gateway`: answers 502 with a page of its own, nothing is passed on
 */
export type Fault =
  | "drop-request"
  | "stall-request"
  | "drop-answer"
  | "stall-answer"
  | "cut-answer"
  | "late-request"
  | "late-answer"
  | "duplicate"
  | "bad-gateway"

/** An answer of the proxy's own: a 429, a 503, a refused token. Nothing is passed on. */
type OwnAnswer = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

export type Answer = { readonly status: number; readonly headers: IncomingMessage["headers"]; readonly body: Buffer }

/** An answer that isn't the one from behind. `pass` passes the request on. */
export type Lie = { readonly answer: (body: string, pass: () => Promise<Answer>) => Promise<Answer> }

/** One request in the order of arrival: what was done to it, and how often and with which status it was answered behind. */
type LedgerEntry = {
  readonly path: string
  readonly body: string
  readonly fault: Fault | OwnAnswer | Lie | undefined
  readonly statuses: number[]
}

export type FaultProxyOptions = {
  /** The origin behind. */
  readonly target: string
  /** Chooses what to do to a request; undefined passes it on as it is. */
  readonly choose: (request: { readonly path: string; readonly body: string }) => Fault | OwnAnswer | Lie | undefined
  /** Resolves when late is late enough: at once unless it is given. */
  readonly late?: () => Promise<void>
}

/** An HTTP proxy on a free loopback port that loses, delays and repeats, and keeps a ledger of it. */
export const startFaultProxy = async ({ target, choose, late = async () => {} }: FaultProxyOptions) => {
  const ledger: LedgerEntry[] = []
  let active = 0
  const { hostname, port } = new URL(target)

  const pass = (incoming: IncomingMessage, body: Buffer): Promise<Answer> =>
    new Promise<Answer>((resolve, reject) => {
      active++
      const { method, url: path, headers } = incoming
      const outgoing = forward({ hostname, port, method, path, headers, agent: false }, (answer) => {
        buffer(answer).then(
          (bytes) => resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body: bytes }),
          reject,
        )
      })
      outgoing.once("error", reject)
      outgoing.end(body)
    }).finally(() => active--)

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(incoming)
    const asked = { path: incoming.url ?? "", body: body.toString() }
    const fault = choose(asked)
    const entry: LedgerEntry = { ...asked, fault, statuses: [] }
    ledger.push(entry)
    if (typeof fault === "object" && "body" in fault) {
      response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers })
      response.end(JSON.stringify(fault.body))
      return
    }
    if (fault === "drop-request") incoming.socket.resetAndDestroy()
    if (fault === "bad-gateway") response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>")
    if (fault === "drop-request" || fault === "stall-request" || fault === "bad-gateway") return
    if (fault === "late-request") await late()
    const passOn = () => pass(incoming, body)
    const answer = await (typeof fault === "object" ? fault.answer(asked.body, passOn) : passOn())
    entry.statuses.push(answer.status)
    if (fault === "late-answer") await late()
    if (fault === "drop-answer") incoming.socket.resetAndDestroy()
    if (fault === "drop-answer" || fault === "stall-answer") return
    const { connection: _connection, "keep-alive": _keep, "transfer-encoding": _coding, ...headers } = answer.headers
    response.writeHead(answer.status, { ...headers, "content-length": answer.body.length })
    if (fault === "cut-answer") {
      response.write(answer.body.subarray(0, answer.body.length / 2), () => incoming.socket.resetAndDestroy())
      return
    }
    response.end(answer.body)
    if (fault === "duplicate" && answer.status === 200) {
      await late()
      entry.statuses.push((await pass(incoming, body)).status)
    }
  }

  const server = createServer((incoming, response) => {
    // A client or a target that is gone is what this proxy is for.
    serve(incoming, response).catch(() => incoming.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const bound = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${bound.port}`,
    ledger,
    /** How many requests wait for the target now. */
    active: () => active,
    close: async (): Promise<void> => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
