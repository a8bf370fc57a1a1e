import { once } from "node:events"
import { type IncomingMessage, Server, type ServerResponse } from "node:http"
import { type AddressInfo, createServer, type ListenOptions, type Server as NetServer, type Socket } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import { getRequestListener, RequestError } from "@hono/node-server"
import { SetupError } from "@svc/config"
import { createClientAddress, type TrustedNetwork } from "./client-address.ts"
import { createConnections } from "./connections/connections.ts"
import { createCutLog } from "./connections/cut-log.ts"
import { type Exchange, logRequest, requestLine, type RequestLogOptions, sentRequestId } from "./request-context.ts"
import { endAfter, endAfterBody } from "./requests/body.ts"
import { type Bounds, defaultBounds } from "./service-fields.ts"
import { createUnparsedAnswer } from "./unparsed.ts"

const listenSteps: Readonly<Record<string, string>> = {
  EADDRINUSE: "Set another port, or stop what `ss -ltnp` shows there.",
  EACCES: "Set it to 1024 or more.",
}

/** Listens, or throws a SetupError that names the setting. */
const listen = async (server: NetServer, address: ListenOptions, portSetting: string): Promise<number> => {
  await once(server.listen(address), "listening").catch((error: Error & { code?: string }) => {
    const step = listenSteps[error.code ?? ""]
    const [setting, next] = step === undefined ? ["HOST", "Set it to an address of this machine."] : [portSetting, step]
    throw new SetupError(error.message, setting, next, error)
  })
  return (server.address() as AddressInfo).port
}

/** An app, as Hono's `fetch` is. */
export type Fetch = (request: Request, env: Exchange) => Response | Promise<Response>

export type ServeOptions = {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** A second port for probes, where connections to the first one don't wait before them; none unless given. */
  readonly probePort?: number | undefined
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
  /** Headers of every answer, unless the answer itself says otherwise. */
  readonly headers?: Readonly<Record<string, string>>
  /** Answers what no Request can be made of: 405 if only the method is unknown, else 400. In plain text unless given. */
  readonly onUnreadable?: (requestId: string, reason: string, status: 400 | 405) => Response
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
  /** Stops accepting, ends idle connections, lets what is in flight finish, then cuts what is left. */
  readonly close: () => Promise<void>
}

const sweepMs = 500

/** Its `close` leaves idle connections open, where Node's ends them and with them the request that is on its way on one. */
class PatientServer extends Server {
  override closeIdleConnections(): void {}

  endIdle(): void {
    super.closeIdleConnections()
  }
}

const mostTurns = 100

/** Waits until the kernel has no more connections that this process has yet to accept: it would reset them, and what they have sent. */
const allAccepted = async (accepted: () => number): Promise<void> => {
  for (let turns = 0, before = -1; turns < mostTurns && before !== accepted(); turns++) {
    before = accepted()
    // One turn for the timers of a busy process, one that accepts.
    await turn()
    await turn()
  }
}

const notATarget = "the Host header or the request target is not valid"
const notChunked = "Transfer-Encoding must be chunked, in HTTP/1.1"
const unreadable = (_: string, reason: string, status: 400 | 405): Response => new Response(`${reason}\n`, { status })

// The adapter puts Host and target together into one URL and overlooks some of these: the path would begin in the Host.
const notAHost = /^$|[\s/?#@\\]/

/**
 * Serves HTTP/1.1. Rejects when the port can't be had. The app comes afterwards, by `handle`: it may be told the server's
 * own port.
 * @example
 * ```ts
 * const server = await serve({ host, port, bounds, trustedProxies, drainMs: 10_000, requests })
 * server.handle(createApp({ publicUrl: server.url }).fetch)
 * ```
 */
export const serve = async (options: ServeOptions): Promise<RunningServer> => {
  const { host, probePort, requests, observe, onUnreadable = unreadable, bounds = defaultBounds, drainMs } = options
  const headers = new Map(Object.entries(options.headers ?? {}))
  let app: Fetch = () => new Response(null, { status: 503 })
  let draining = false
  // Set once idle connections end: what came until then was sent by a client, mostly a proxy, that couldn't know.
  let areLate = false

  // The adapter calls both of its callbacks before it returns.
  let current: { readonly exchange: Exchange; readonly fault: string; readonly isReadable: boolean } | undefined
  const listener = getRequestListener(
    (request) => {
      if (current?.isReadable !== true) throw new RequestError(current?.fault ?? notATarget)
      return app(request, current.exchange)
    },
    {
      // An app renders its own errors: what comes here is a target that no Request can be made of, or no Error at all.
      errorHandler: (error) => {
        if (current === undefined) return undefined
        const { exchange, fault } = current
        const isUnreadable = error instanceof RequestError
        const response = isUnreadable
          ? onUnreadable(exchange.requestId, fault, 400)
          : new Response(null, { status: 500 })
        logRequest(exchange, response.status)
        return response
      },
      // Stands in for a Host that is missing.
      hostname: "localhost",
      // Node itself discards a body that nobody reads. The adapter would cut its client off after half a second.
      autoCleanupIncoming: false,
    },
  )

  const respond = async (exchange: Exchange): Promise<void> => {
    const { incoming, outgoing } = exchange
    if (requests !== undefined) {
      exchange.began = requests.now()
      exchange.requestId = sentRequestId(incoming) ?? exchange.traceId ?? requests.randomId()
      outgoing.setHeader("x-request-id", exchange.requestId)
    }
    outgoing.setHeaders(headers)
    endAfterBody(exchange)
    if (draining) endAfter(exchange)
    // HTTP/1.0 may go without a Host.
    const { host: target = incoming.httpVersion === "1.0" ? "localhost" : "" } = incoming.headers
    const encoding = incoming.headers["transfer-encoding"]
    const isCoded = encoding !== undefined && (incoming.httpVersion === "1.0" || !/^chunked$/i.test(encoding))
    const fault = isCoded ? notChunked : notATarget
    // Where the next request begins, another reader may see differently.
    if (isCoded) outgoing.setHeader("connection", "close")
    current = { exchange, fault, isReadable: !isCoded && !notAHost.test(target) }
    await listener(incoming, outgoing)
    connections.answered(exchange)
  }
  const clientAddress = createClientAddress(options.trustedProxies ?? [], requests?.log)
  const begin = (exchange: Exchange): void =>
    observe === undefined ? void respond(exchange) : observe(exchange, respond)
  const probes = new Set(requests?.quiet)
  const isUrgent = ({ incoming }: Exchange): boolean => probes.has(incoming.url ?? "")
  const connections = createConnections(bounds, clientAddress, begin, isUrgent, createCutLog(requests?.log))
  const shared = { requests, clientAddress, connections }
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse): void =>
    connections.arrived({ incoming, outgoing, server: shared, isLate: areLate, requestId: "", began: 0, route: "*" })
  const unparsed = createUnparsedAnswer(connections, (reason, status) => {
    const id = requests?.randomId() ?? ""
    const response = onUnreadable(id, reason, status)
    for (const [name, value] of headers) response.headers.set(name, value)
    if (id !== "") response.headers.set("x-request-id", id)
    requests?.log.info(requestLine(id, "-", "*", response.status, 0), "request")
    return response
  })
  const server = new PatientServer({
    requireHostHeader: false,
    // Without a body a request is no stream, which halves what a pipelined one costs.
    optimizeEmptyRequests: true,
    // A second Host or Authorization is seen, and makes no valid one: which of two a proxy has judged, nobody knows.
    joinDuplicateHeaders: true,
    // For a request's head, for all of it, and how often both are looked at, in milliseconds.
    headersTimeout: 20_000,
    requestTimeout: 60_000,
    connectionsCheckingInterval: 5000,
    // Longer than the idle time of common load balancers, which would else send on a connection that is being closed.
    keepAliveTimeout: 75_000,
  })
  server.on("request", answer).on("connection", connections.opened)
  // Over TCP the stream is a socket.
  server.on("clientError", (error, socket) => unparsed(error, socket as Socket))
  // Node closes the connection of a CONNECT without a response if nobody listens, and leaves the socket to the listener.
  server.on("connect", (_, socket) => unparsed(undefined, socket.on("error", () => {}).resume() as Socket))
  // An Expect that nobody knows may be passed over (RFC 9110 section 10.1.1); Node's own 417 would be no answer of the app.
  server.on("checkExpectation", answer)
  // A client that finds the queue full tries again after a second, then after three; one in a long queue waits longer.
  const address = { port: options.port, host, backlog: Math.ceil(bounds.connections / 4) }
  const port = await listen(server, address, "PORT")
  const listeners: NetServer[] = [server]
  if (probePort !== undefined) {
    // The same server behind a queue of its own.
    const door = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit("connection", socket))
    await listen(door, { host, port: probePort }, "SVC_PROBE_PORT")
    listeners.push(door)
  }

  const close = async (): Promise<void> => {
    draining = true
    connections.drain()
    await allAccepted(connections.accepted)
    const closed = Promise.all(listeners.map((one) => once(one.close(), "close")))
    // What is idle still. Node takes for idle what has ended its response, however much of that its client has yet to take.
    const endIdle = (): void => {
      areLate = true
      if (!connections.areSending()) server.endIdle()
    }
    // Right after Node has read what came: a request on its way to a busy process is seen before its connection ends.
    const sweep = setInterval(() => setImmediate(endIdle), sweepMs)
    const timer = setTimeout(() => server.closeAllConnections(), drainMs)
    await closed
    clearInterval(sweep)
    clearTimeout(timer)
  }
  let closing: Promise<void> | undefined
  return {
    host,
    port,
    url: `http://localhost:${port}`,
    handle: (fetch) => {
      app = fetch
    },
    draining: () => draining,
    close: () => (closing ??= close()),
  }
}
