import { createServer, type IncomingMessage, type Server } from "node:http"
import { getRequestListener } from "@hono/node-server"
import { type Exchange, Outgoing } from "./outgoing.ts"
import { createRequestLog, type RequestLogOptions } from "./request-log.ts"

export type ServeOptions = {
  readonly fetch: (request: Request, env: Exchange) => Response | Promise<Response>
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** How long requests in flight may go on after `close`, in milliseconds. */
  readonly drainMs: number
  /** Ids and a log line for all requests; neither unless given. */
  readonly requests?: RequestLogOptions
  /** Headers of every answer, in lower case, unless the answer or its handler says otherwise. */
  readonly headers?: Readonly<Record<string, string>>
  /** Answers a request whose Host or target no Request can be made of; a plain 400 unless given. */
  readonly onUnreadable?: (requestId: string) => Response
}

export type RunningServer = {
  readonly host: string
  readonly port: number
  /** True from the moment `close` was called: requests can still come on connections that are open. */
  readonly draining: () => boolean
  /** Stops accepting, lets what is in flight finish, then cuts what is left. */
  readonly close: () => Promise<void>
}

const sweepMs = 50

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, host, () => {
      server.removeListener("error", reject)
      resolve()
    })
  })

const unreadable = (): Response =>
  new Response("The Host header or the request target is not valid.\n", { status: 400 })

// The adapter puts Host and target together into one URL and overlooks some of these: the path would begin in the Host.
const notAHost = /[\s/?#@\\]/

/** Serves a fetch handler over HTTP/1.1. Rejects when the port can't be had. */
export const serve = async (options: ServeOptions): Promise<RunningServer> => {
  const shared = { headers: options.headers ?? {}, draining: false }
  const onUnreadable = options.onUnreadable ?? unreadable
  const begin = options.requests === undefined ? () => {} : createRequestLog(options.requests)
  // The adapter turns an unreadable request away before it returns, and tells its error handler nothing of it.
  let newest: string | undefined
  // The cast: the adapter also knows HTTP/2, which this server does not speak.
  const handle = getRequestListener(
    (request, env) => {
      const exchange = env as Exchange
      newest = undefined
      const { host } = exchange.incoming.headers
      return host === "" || (host !== undefined && notAHost.test(host))
        ? onUnreadable(exchange.outgoing.requestId)
        : options.fetch(request, exchange)
    },
    {
      // Called while `handle` runs for a request that no Request can be made of. The app renders its own errors.
      errorHandler: () => (newest === undefined ? new Response(null, { status: 500 }) : onUnreadable(newest)),
      // For HTTP/1.0, which may go without a Host.
      hostname: "localhost",
    },
  )
  const answer = (incoming: IncomingMessage, outgoing: Outgoing): void => {
    outgoing.shared = shared
    begin({ incoming, outgoing })
    newest = outgoing.requestId
    void handle(incoming, outgoing)
  }
  const server = createServer({ ServerResponse: Outgoing }, answer)
  // An Expect that nobody knows may be passed over (RFC 9110 section 10.1.1); Node's own 417 would be no answer of the app.
  server.on("checkExpectation", answer)
  // Longer than the idle time of common load balancers, which would else send on a connection that is being closed.
  server.keepAliveTimeout = 75_000
  server.headersTimeout = 20_000
  await listen(server, options.port, options.host)
  const bound = server.address()
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    shared.draining = true
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    const timer = setTimeout(() => server.closeAllConnections(), options.drainMs)
    // An answer that was already under way when the drain began leaves its connection open and idle.
    const sweep = setInterval(() => server.closeIdleConnections(), sweepMs)
    await closed
    clearInterval(sweep)
    clearTimeout(timer)
  }
  return {
    host: options.host,
    port: typeof bound === "object" && bound !== null ? bound.port : options.port,
    draining: () => shared.draining,
    close: () => (closing ??= close()),
  }
}
