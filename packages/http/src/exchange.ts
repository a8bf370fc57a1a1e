import type { IncomingMessage } from "node:http"
import type { Context, Env, Handler } from "hono"
import { routePath } from "hono/route"
import type { Outgoing } from "./outgoing.ts"

/** The two ends of an exchange, which `serve` puts into a handler's environment. */
export type Exchange = { readonly incoming: IncomingMessage; readonly outgoing: Outgoing }

/** The environment of an app that `serve` serves. */
export type ServedEnv = Env & { Bindings: Exchange }

/** The part of such an app's context that is needed here. */
export type Served = { readonly env: Exchange }

/** A request's header, several lines of it joined by commas, from what Node has parsed already. @param name in lower case */
export const requestHeader = (c: Served, name: string): string | undefined => {
  const value = c.env.incoming.headers[name]
  return typeof value === "string" ? value : value?.join(", ")
}

/** The id that the request's log line and answer have; empty where the server keeps no request log. */
export const requestIdOf = (c: Served): string => c.env.outgoing.requestId

/** The address that a request comes from: behind a trusted proxy what `X-Forwarded-For` says, else the connection's other end. */
export const clientAddress = (c: Served): string => {
  const { incoming, outgoing } = c.env
  return outgoing.shared.clientAddress.of(incoming.socket.remoteAddress, requestHeader(c, "x-forwarded-for"))
}

/** Whether the connection's other end is a proxy whose headers count. */
export const isProxied = (c: Served): boolean => {
  const { incoming, outgoing } = c.env
  return outgoing.shared.clientAddress.isProxy(incoming.socket.remoteAddress)
}

/**
 * Says whose request it is, once the key is known to be valid: what the server keeps for the request, its body and a response
 * that isn't taken, is charged to that account and no longer to the address.
 */
export const setAccount = (c: Served, account: string): void => {
  c.env.outgoing.account = account
}

/** Whether the caller decides which traces are kept. */
export const trustsTraces = (c: Served): boolean => {
  const { incoming, outgoing } = c.env
  return outgoing.trustsTraces?.(incoming.socket) ?? false
}

/**
 * Sets a header of the response that follows, errors too. The response's own header of that name wins, and both win over the
 * server's. Names match in any case.
 */
export const setHeader = (c: Served, name: string, value: string): void => {
  c.env.outgoing.preset[name.toLowerCase()] = value
}

/** The response that follows goes out without the headers that `serve` adds to every response. */
export const omitServerHeaders = (c: Served): void => {
  c.env.outgoing.sharesHeaders = false
}

/** A handler whose route is named in the log. */
export const routed =
  <E extends ServedEnv>(handler: Handler<E>): Handler<E> =>
  (c, next) => {
    c.env.outgoing.route = routePath(c as Context)
    return handler(c, next)
  }

/**
 * The path as it was sent, for Hono's `getPath`: `/a/../b` and `/%62` are not `/b`, because a proxy in front that allows paths
 * and the router must read them alike.
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
