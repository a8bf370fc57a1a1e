import type { IncomingMessage } from "node:http"
import type { Context, Env, Handler } from "hono"
import { routePath } from "hono/route"
import { Outgoing } from "./outgoing.ts"
import { socketless } from "./socketless.ts"

/** The two ends of an exchange, which `serve` puts into a handler's environment. */
export type Exchange = { readonly incoming: IncomingMessage; readonly outgoing: Outgoing }

/** The environment of an app that is given to `serve`. */
export type ServedEnv = Env & { Bindings: Exchange }

/** Of a context of such an app, what is needed here. */
export type Served = { readonly env: Exchange; readonly req: { readonly raw: Request } }

/** What an app without a server around it, as `app.request()` calls it in a test, gets in its place. */
export const exchangeOf = (c: Served): Exchange => {
  const env: Partial<Exchange> | undefined = c.env
  return env?.outgoing === undefined ? socketless(c.req.raw) : c.env
}

/** A request's header, several lines of it joined by commas, from what Node has parsed already. @param name in lower case */
export const requestHeader = (c: Served, name: string): string | undefined => {
  const value = exchangeOf(c).incoming.headers[name]
  return typeof value === "string" ? value : value?.join(", ")
}

/** The id that the request's log line and answer have; empty where the server keeps no request log. */
export const requestIdOf = (c: Served): string => exchangeOf(c).outgoing.requestId

/** The address at the other end of the connection, a proxy's maybe; undefined once the connection is gone. */
export const peerAddress = (c: Served): string | undefined => exchangeOf(c).incoming.socket.remoteAddress

/** Whether the caller's word on which traces are kept counts. */
export const trustsTraces = (c: Served): boolean => {
  const { incoming, outgoing } = exchangeOf(c)
  return outgoing.trustsTraces?.(incoming.socket) ?? false
}

/**
 * Sets a header of whatever answer follows, errors too. One that the answer names itself wins, and both win over the
 * server's own, each in any case.
 */
export const setHeader = (c: Served, name: string, value: string): void => {
  exchangeOf(c).outgoing.preset[name.toLowerCase()] = value
}

/** The answer that follows goes out without the headers that `serve` puts on every answer. */
export const omitServerHeaders = (c: Served): void => {
  exchangeOf(c).outgoing.sharesHeaders = false
}

/** A handler that says in the log which route it serves. */
export const routed =
  <E extends ServedEnv>(handler: Handler<E>): Handler<E> =>
  (c, next) => {
    exchangeOf(c).outgoing.route = routePath(c as Context)
    return handler(c, next)
  }

/**
 * The path as it was sent, for Hono's `getPath`: `/a/../b` and `/%62` are not `/b`. Nothing between a proxy that judged
 * the path and the router that serves it may read it in another way.
 */
export const sentPath = (request: { readonly url: string }, { env }: { env?: Partial<Exchange> } = {}): string => {
  const target = env?.incoming?.url ?? request.url
  // A proxy's form has the whole URL.
  const start = target.startsWith("/") ? 0 : target.indexOf("/", target.indexOf("//") + 2)
  if (start === -1) return "/"
  const path = target.slice(start)
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}
