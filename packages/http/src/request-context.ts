import type { IncomingMessage } from "node:http"
import type { MiddlewareHandler } from "hono"
import { matchedRoutes } from "hono/route"
import { addressNetwork } from "./client-address.ts"
import type { Exchange, HttpEnv } from "./exchange.ts"
import type { Logger } from "pino"

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
  const duration = Math.round((now() - began) * 100) / 100
  const line = { request_id: requestId, method: incoming.method, route, status, duration_ms: duration, trace_id }
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
