import { createServer, type IncomingMessage, type Server } from "node:http"
import { Server as NetServer, type Socket } from "node:net"
import { getRequestListener } from "@hono/node-server"
import { type Bounds, defaultBounds } from "./connections/bounds.ts"
import { createClientAddress, type TrustedNetwork } from "./client-address.ts"
import { createConnections } from "./connections/connections.ts"
import { createCutLog } from "./connections/cut-log.ts"
import type { Exchange } from "./exchange.ts"
import { checkedHeaders, Outgoing } from "./outgoing.ts"
import { createRequestLog, type RequestLogOptions } from "./logs/request-log.ts"
import { createUnparsedAnswer } from "./unparsed.ts"

/** An app, as Hono's `fetch` is. */
export type Fetch = (request: Request, env: Exchange) => Response | Promise<Response>

export type ServeOptions = {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** How long requests in flight may go on after `close`, in milliseconds. */
  readonly drainMs: number
  /** Ids and a log line for all requests; neither unless given. */
  readonly requests?: RequestLogOptions
  /** What clients may cost; `defaultBounds` unless given. */
  readonly bounds?: Bounds
  /** Proxies whose `X-Forwarded-For` says who the client is; none unless given. */
  readonly trustedProxies?: readonly TrustedNetwork[]
  /** Called once for each request, which it has served. For telemetry. */
  readonly observe?: ((exchange: Exchange, serve: (exchange: Exchange) => void) => void) | undefined
  /** Headers of every answer, in lower case, unless the answer or its handler says otherwise. */
  readonly headers?: Readonly<Record<string, string>>
  /** Answers what no Request can be made of; a plain 400 with the reason unless given. */
  readonly onUnreadable?: (requestId: string, reason: string) => Response
}

export type RunningServer = {
  readonly host: string
  readonly port: number
  /** Where this machine reaches it: what a service calls itself while no setting says better. */
  readonly url: string
  /** Hands requests to an app from now on. Until the first one each is answered by a bare 503. */
  readonly handle: (fetch: Fetch) => void
  /** True from the moment `close` was called: requests can still come on connections that are open. */
  readonly draining: () => boolean
  /** Stops accepting, lets what is in flight finish, then cuts what is left. */
  readonly close: () => Promise<void>
}

const sweepMs = 100
// For a request's head, for all of it, and how often both are looked at, in milliseconds.
const headersTimeout = 20_000
const requestTimeout = 60_000
const connectionsCheckingInterval = 5000

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, host, () => {
      server.removeListener("error", reject)
      resolve()
    })
  })

const notATarget = "the Host header or the request target is not valid"
const unreadable = (_: string, reason: string): Response => new Response(`${reason}\n`, { status: 400 })

// The adapter puts Host and target together into one URL and overlooks some of these: the path would begin in the Host.
const notAHost = /[\s/?#@\\]/

/**
 * Serves HTTP/1.1. Rejects when the port can't be had. The app comes afterwards, by `handle`: it may be told the server's
 * own port.
 */
export const serve = async (options: ServeOptions): Promise<RunningServer> => {
  const onUnreadable = options.onUnreadable ?? unreadable
  const log = options.requests && createRequestLog(options.requests)
  let app: Fetch = () => new Response(null, { status: 503 })
  // The adapter turns an unreadable request away before it returns, and tells its error handler nothing of it.
  let newest: string | undefined
  // The cast: the adapter also knows HTTP/2, which this server does not speak.
  const handle = getRequestListener(
    (request, env) => {
      const exchange = env as Exchange
      newest = undefined
      const { headers, httpVersion } = exchange.incoming
      // HTTP/1.0 may go without a Host.
      const { host = httpVersion === "1.0" ? "localhost" : "" } = headers
      return host === "" || notAHost.test(host)
        ? onUnreadable(exchange.outgoing.requestId, notATarget)
        : app(request, exchange)
    },
    {
      // Called while `handle` runs for a request that no Request can be made of. The app renders its own errors.
      errorHandler: () =>
        newest === undefined ? new Response(null, { status: 500 }) : onUnreadable(newest, notATarget),
      // Stands in for a Host that is missing: the handler above judges it.
      hostname: "localhost",
      // Node itself discards a body that nobody reads. The adapter would cut its client off after half a second.
      autoCleanupIncoming: false,
    },
  )
  const { observe } = options
  const begin = (exchange: Exchange): void => {
    log?.begin(exchange)
    newest = exchange.outgoing.requestId
    void handle(exchange.incoming, exchange.outgoing)
  }
  const clientAddress = createClientAddress(options.trustedProxies ?? [], options.requests?.log)
  const connections = createConnections(
    options.bounds ?? defaultBounds,
    clientAddress,
    (exchange) => {
      exchange.outgoing.shared = shared
      if (observe === undefined) begin(exchange)
      else observe(exchange, begin)
    },
    createCutLog(options.requests?.log),
  )
  const shared = { common: checkedHeaders(options.headers ?? {}), draining: false, clientAddress, connections }
  const answer = (incoming: IncomingMessage, outgoing: Outgoing): void => connections.arrived({ incoming, outgoing })
  const server = createServer(
    {
      ServerResponse: Outgoing,
      requireHostHeader: false,
      // A second Host or Authorization is seen, and makes no valid one: which of two a proxy has judged, nobody knows.
      joinDuplicateHeaders: true,
      headersTimeout,
      requestTimeout,
      connectionsCheckingInterval,
      // Longer than the idle time of common load balancers, which would else send on a connection that is being closed.
      keepAliveTimeout: 75_000,
    },
    answer,
  )
  server.on("connection", connections.opened)
  const unparsed = createUnparsedAnswer({
    newest: connections.newest,
    isHeldBack: connections.isHeldBack,
    answerTo: (reason) => {
      const response = log?.unparsed((id) => onUnreadable(id, reason)) ?? onUnreadable("", reason)
      for (const [name, value] of shared.common) response.headers.set(name, value)
      return response
    },
  })
  // Over TCP the stream is a socket.
  server.on("clientError", (error, socket) => unparsed(error, socket as Socket))
  // An Expect that nobody knows may be passed over (RFC 9110 section 10.1.1); Node's own 417 would be no answer of the app.
  server.on("checkExpectation", answer)
  await listen(server, options.port, options.host)
  const bound = server.address()
  const port = typeof bound === "object" && bound !== null ? bound.port : options.port
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    shared.draining = true
    // Node's close for HTTP ends what is idle at once, and with it a request that is on its way to us: a busy client's next
    // one is answered instead, and that answer ends the connection.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
    const timer = setTimeout(() => server.closeAllConnections(), options.drainMs)
    // What is idle still, and what an answer left open that was under way when the drain began.
    // Node takes for idle what has ended its response, however much of that its client has yet to take.
    const sweep = setInterval(() => {
      if (!connections.areSending()) server.closeIdleConnections()
    }, sweepMs)
    await closed
    clearInterval(sweep)
    clearTimeout(timer)
  }
  return {
    host: options.host,
    port,
    url: `http://localhost:${port}`,
    handle: (fetch) => {
      app = fetch
    },
    draining: () => shared.draining,
    close: () => (closing ??= close()),
  }
}
