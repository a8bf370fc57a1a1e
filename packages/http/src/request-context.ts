import type { MiddlewareHandler } from "hono"
import { matchedRoutes, routePath } from "hono/route"
import { clientAddress, type Exchange, isProxied, requestIdOf, trustsTraces } from "./exchange.ts"

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

/** Fills `c.var`, and names the route that responded in the log. The first middleware of every app. */
export const requestContext: MiddlewareHandler<HttpEnv> = async (c, next) => {
  c.set("requestId", requestIdOf(c))
  c.set("clientAddress", clientAddress(c))
  c.set("isProxied", isProxied(c))
  c.set("trustsTraces", trustsTraces(c))
  await next()
  // `doctor` asks through the public URL whose address arrives here. The caller learns its own and no other.
  if (c.req.header("x-svc-doctor") !== undefined && c.req.path === "/livez") {
    const isForwarded = c.req.header("x-forwarded-for") !== undefined
    const forwarded = !isForwarded ? "none" : c.get("isProxied") ? "trusted" : "ignored"
    c.header("X-Svc-Client-Address", `${c.get("clientAddress")}; ${forwarded}`)
  }
  const { outgoing } = c.env
  outgoing.account ??= c.get("account")
  // Middlewares run for all methods; an unknown path ends in one of them.
  const route = matchedRoutes(c)[c.req.routeIndex]
  if (route !== undefined && route.method !== "ALL") outgoing.route = routePath(c)
}
