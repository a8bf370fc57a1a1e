import type { MiddlewareHandler } from "hono"
import { matchedRoutes, routePath } from "hono/route"
import type { Exchange } from "./exchange.ts"
import { logRequest } from "./logs/request-log.ts"

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
  }
}

/** Fills `c.var`, and logs the request by the route that responded. The first middleware of every app. */
export const requestContext: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const { env } = c
  const { socket, headers } = env.incoming
  const { of, isProxy } = env.server.clientAddress
  env.context = c
  c.set("requestId", env.requestId)
  c.set("clientAddress", of(socket.remoteAddress, headers["x-forwarded-for"]))
  c.set("isProxied", isProxy(socket.remoteAddress))
  c.set("trustsTraces", env.trustsTraces?.(socket) ?? false)
  await next()
  // `doctor` asks through the public URL whose address arrives here. The caller learns its own and no other.
  if (c.req.header("x-svc-doctor") !== undefined && c.req.path === "/livez") {
    const isForwarded = c.req.header("x-forwarded-for") !== undefined
    const forwarded = !isForwarded ? "none" : c.get("isProxied") ? "trusted" : "ignored"
    c.header("X-Svc-Client-Address", `${c.get("clientAddress")}; ${forwarded}`)
  }
  // Middlewares run for all methods; an unknown path ends in one of them.
  const route = matchedRoutes(c)[c.req.routeIndex]
  if (route !== undefined && route.method !== "ALL") env.route = routePath(c)
  logRequest(env, c.res.status)
}
