import type { HttpBindings } from "@hono/node-server"
import type { Context, MiddlewareHandler } from "hono"
import type { IncomingMessage } from "node:http"
import { matchedRoutes } from "hono/route"
import type { Logger } from "pino"
import { addressNetwork, type ClientAddress } from "./client-address.ts"
import type { Connections } from "./connections/connections.ts"
import type { Body } from "./requests/body.ts"
import type { JsonText } from "./requests/json-body.ts"

/** Both ends of a request, as the adapter gives them to an app, and what is known of it. */
export type Exchange = HttpBindings & {
  /** What all requests of the server share. */
  readonly server: {
    readonly requests: RequestLogOptions | undefined
    readonly clientAddress: ClientAddress
    /** Bounds what is kept for slow clients. */
    readonly connections: Pick<Connections, "hold" | "stream" | "cutOff">
  }
  /** Came after the server began to close, and too late to have crossed with that. */
  readonly isLate: boolean
  /** Its body, once that is taken from the connection. */
  body?: Body
  /** The request's id, which its response tells; empty when the server keeps no request log. */
  requestId: string
  /** When it began, on the log's clock. */
  began: number
  /** The pattern of the route that serves it. */
  route: string
  /** When a response that doesn't end by itself began, by `performance.now()`. */
  streamsSince?: number
  /** Its context in the app, which knows its account. */
  context?: Context<HttpEnv>
  /** Its trace, where telemetry is on. */
  traceId?: string
}

/** The environment of an app behind `serve`. Handlers read `c.var`, and leave `c.env` to this package. */
export type HttpEnv = {
  Bindings: Exchange
  Variables: {
    /** The id that the request's log line and response have. */
    requestId: string
    /** Where the request comes from: behind a trusted proxy what `X-Forwarded-For` says, else the connection's other end. */
    clientAddress: string
    /** Whether the connection's other end is a trusted proxy. */
    isProxied: boolean
    /** Whether the caller decides which traces are kept. */
    trustsTraces: boolean
    /** The account or subject that the request belongs to. Set it once the key or token is known to be valid. */
    account?: string
    /** Whether many have the key or token, such as the visitors of a page. What they cost counts for their addresses. */
    isShared?: boolean
    /** The body of a route whose middleware is `jsonBody`. */
    json: JsonText
  }
}

/**
 * The path as it was sent, for Hono's `getPath`: `/a/../b` and `/%62` are not `/b`, because a proxy in front that allows paths
 * and the router must read them alike.
 */
export const sentPath = (request: { readonly url: string }, { env }: { env?: Partial<Exchange> } = {}): string => {
  const target = env?.incoming?.url ?? request.url
  // A proxy's form has the whole URL.
  const start = target.startsWith("/") ? 0 : target.indexOf("/", target.indexOf("//") + 2)
  return start === -1 ? "/" : target.slice(start).replace(/[?#].*$/s, "")
}

/**
 * Counts a response that doesn't end by itself. They take half of all connections at most, those without an account three
 * quarters of these: for more, the oldest of whoever has most is closed. Call it before such a response is returned.
 * @returns counts how many bytes wait for its client
 */
export const countStream = ({ env }: { readonly env: Exchange }): ((waitingBytes: number) => void) => {
  const { connections } = env.server
  let counted = 0
  connections.stream(env)
  env.streamsSince = performance.now()
  return (waitingBytes) => {
    connections.hold(env, waitingBytes - counted)
    counted = waitingBytes
  }
}

export type RequestLogOptions = {
  readonly log: Pick<Logger, "debug" | "info" | "warn" | "error">
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly randomId: () => string
  /** Routes logged at level debug only: probes would fill the log. */
  readonly quiet?: readonly string[]
}

/** The id that a caller sent as `X-Request-Id`, if it is well-formed. */
export const sentRequestId = ({ headers }: IncomingMessage): string | undefined =>
  /^[\w.-]{8,64}$/.exec(String(headers["x-request-id"] ?? ""))?.[0]

/** How each service's document describes `X-Request-Id`. */
export const requestIdHeader = {
  description:
    "Identifies the request in the service's log. A caller's own id of 8 to 64 letters, digits, `_`, `.` or `-` is kept",
  schema: { type: "string" },
} as const

/** What the line of every request has. */
export const requestLine = (
  request_id: string,
  method: string | undefined,
  route: string,
  status: number,
  ms: number,
) => ({
  request_id,
  method,
  route,
  status,
  duration_ms: Math.round(ms * 100) / 100,
})

// An operator has to find who is behind them, without a full address in the log.
const refusals = new Set([401, 403, 429])

/**
 * Writes the line of a request whose response is about to be sent: id, method, route pattern, status, duration; of a refused one
 * the account, if known, and the network. Never the path itself, a query or a header: they can hold keys.
 */
export const logRequest = (exchange: Exchange, status: number): void => {
  const { incoming, server, requestId, began, route, context, traceId: trace_id } = exchange
  if (server.requests === undefined) return
  const { log, now, quiet = [] } = server.requests
  const line = { ...requestLine(requestId, incoming.method, route, status, now() - began), trace_id }
  const isRefused = context !== undefined && refusals.has(status)
  const who = isRefused && { account: context.get("account"), network: addressNetwork(context.get("clientAddress")) }
  const isQuiet = quiet.includes(route)
  // A probe's 503 is an answer like another: the service starts, stops or waits for something.
  const level = status >= 500 && !(isQuiet && status === 503) ? "error" : isQuiet && status !== 503 ? "debug" : "info"
  log[level]({ ...line, ...who }, "request")
}

/** Fills `c.var`, and logs the request by the route that responded. The first middleware of every app. */
export const requestContext: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const { env } = c
  const { socket, headers } = env.incoming
  const { of, isProxy, trustsTraces } = env.server.clientAddress
  env.context = c
  c.set("requestId", env.requestId)
  c.set("clientAddress", of(socket.remoteAddress, headers["x-forwarded-for"]))
  c.set("isProxied", isProxy(socket.remoteAddress))
  c.set("trustsTraces", trustsTraces(socket.remoteAddress))
  await next()
  // `doctor` asks through the public URL whose address arrives here. The caller learns its own and no other.
  if (c.req.header("x-svc-doctor") !== undefined && c.req.path === "/livez") {
    const isForwarded = c.req.header("x-forwarded-for") !== undefined
    const forwarded = !isForwarded ? "none" : c.get("isProxied") ? "trusted" : "ignored"
    c.header("X-Svc-Client-Address", `${c.get("clientAddress")}; ${forwarded}`)
  }
  // Middlewares run for all methods; an unknown path ends in one of them.
  const route = matchedRoutes(c)[c.req.routeIndex]
  if (route !== undefined && route.method !== "ALL") env.route = route.path
  logRequest(env, c.res.status)
}
