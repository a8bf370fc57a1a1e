import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"
import type { Env, Handler } from "hono"
import type { Connections } from "./connections.ts"

/** What all answers of a server have in common, read when an answer begins. */
type Shared = {
  readonly headers: Readonly<Record<string, string>>
  readonly draining: boolean
  /** Bounds what is kept for slow clients. */
  readonly clients: Pick<Connections, "hold" | "release" | "unsent">
}

const nothing = (): void => {}
const none: Shared = { headers: {}, draining: false, clients: { hold: nothing, release: nothing, unsent: nothing } }

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

  // Node sorts out which of its three parameters are given.
  override end(chunk?: unknown, encoding?: unknown, done?: unknown): this {
    super.end(chunk, encoding as BufferEncoding, done as () => void)
    // Nearly always the system has taken all of it by now.
    if (!this.writableFinished) this.shared.clients.unsent(this)
    return this
  }
}

/** The two ends of an exchange, which `serve` puts into a handler's environment. */
export type Exchange = { readonly incoming: IncomingMessage; readonly outgoing: Outgoing }

/** The environment of an app that is given to `serve`. */
export type ServedEnv = Env & { Bindings: Exchange }

/** A context of such an app. */
export type Served = { readonly env: Exchange }

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
