import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"
import type { Env, Handler } from "hono"

const none = { headers: {} }

/**
 * Node's response, with what is known of the request before there is an answer. A header that is set on Node's own
 * response beforehand sends all others down a slower way; so does a Headers object, and each layer around a handler.
 */
export class Outgoing extends ServerResponse {
  /** The headers of every answer of the server, read when an answer begins. A handler may want none of them. */
  shared: { readonly headers: Readonly<Record<string, string>> } = none
  /** Sent with whatever answer follows, errors too, in lower case; a header that the answer names itself wins. */
  readonly preset: Record<string, string> = {}
  /** The request's id; empty when the server keeps no request log. */
  requestId = ""
  /** The pattern of the route that serves the request, for the log. */
  route = "*"
  /** Called with the status when the answer's head is written. */
  onHead: ((status: number) => void) | undefined

  override writeHead(
    status: number,
    message?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    const given = typeof message === "string" ? headers : message
    // The adapter gives a record or nothing; a list of names and values goes through as it is.
    if (Array.isArray(given)) super.writeHead(status, given)
    else super.writeHead(status, { ...this.shared.headers, ...this.preset, ...given })
    this.onHead?.(status)
    return this
  }
}

/** The two ends of an exchange, which `serve` puts into a handler's environment. */
export type Exchange = { readonly incoming: IncomingMessage; readonly outgoing: Outgoing }

/** The environment of an app that is given to `serve`. */
export type ServedEnv = Env & { Bindings: Exchange }

/** A context of such an app. */
export type Served = { readonly env: Exchange }

/** A handler that says in the log which route it serves. */
export const routed =
  <E extends ServedEnv>(route: string, handler: Handler<E>): Handler<E> =>
  (c, next) => {
    c.env.outgoing.route = route
    return handler(c, next)
  }

/** A request's header, several lines of it joined by commas, from what Node has parsed already. @param name in lower case */
export const requestHeader = (c: Served, name: string): string | undefined => {
  const value = c.env.incoming.headers[name]
  return typeof value === "string" ? value : value?.join(", ")
}
