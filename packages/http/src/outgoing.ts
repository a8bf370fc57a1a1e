import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"
import type { Env, Handler } from "hono"

/** What all answers of a server have in common, read when an answer begins. */
type Shared = { readonly headers: Readonly<Record<string, string>>; readonly draining: boolean }

const none: Shared = { headers: {}, draining: false }

/**
 * Node's response, with what is known of the request before there is an answer. A header that is set on Node's own
 * response beforehand sends all others down a slower way; so does a Headers object, and each layer around a handler.
 */
export class Outgoing extends ServerResponse {
  shared = none
  /** Whether the server's headers are sent: a handler may want none of them. */
  sharesHeaders = true
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
    // The adapter gives a record or nothing, never Node's list of names and values.
    const given = (typeof message === "string" ? headers : message) as OutgoingHttpHeaders | undefined
    const { headers: common, draining } = this.shared
    const own = { ...(this.sharesHeaders ? common : undefined), ...this.preset, ...given }
    super.writeHead(status, draining ? { ...own, connection: "close" } : own)
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

// Node keeps the first of these and drops the others: which of them a proxy has judged, nobody knows.
const allAuthorization = (rawHeaders: readonly string[]): string | undefined => {
  let found: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = "", value = ""] = [rawHeaders[i], rawHeaders[i + 1]]
    if (name.length === 13 && name.toLowerCase() === "authorization")
      found = found === undefined ? value : `${found}, ${value}`
  }
  return found
}

/** A request's header, several lines of it joined by commas, from what Node has parsed already. @param name in lower case */
export const requestHeader = (c: Served, name: string): string | undefined => {
  if (name === "authorization") return allAuthorization(c.env.incoming.rawHeaders)
  const value = c.env.incoming.headers[name]
  return typeof value === "string" ? value : value?.join(", ")
}
