import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Context, Env, Handler } from "hono"
import type { ClientAddress } from "./client-address.ts"
import type { Connections } from "./connections/connections.ts"
import type { RequestLogOptions } from "./logs/request-log.ts"
import type { HttpEnv } from "./request-context.ts"

/** What all requests of a server share. */
export type Shared = {
  readonly requests: RequestLogOptions | undefined
  /** Headers of every response. */
  readonly headers: ReadonlyMap<string, string>
  readonly clientAddress: ClientAddress
  /** Bounds what is kept for slow clients. */
  readonly connections: Pick<Connections, "hold">
}

/** Both ends of a request, as the adapter gives them to an app, and what is known of it. */
export type Exchange = {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly server: Shared
  /** The request's id, which its response tells; empty when the server keeps no request log. */
  requestId: string
  /** When it began, on the log's clock. */
  began: number
  /** The pattern of the route that serves it. */
  route: string
  /** Its context in the app, which knows its account. */
  context?: Context<HttpEnv>
  /** Its trace, and whether a connection's other end decides which traces are kept, where telemetry is on. */
  traceId?: string
  trustsTraces?: (socket: Socket) => boolean
}

/** The environment of an app that `serve` serves. */
export type ServedEnv = Env & { Bindings: Exchange }

/** The part of such an app's context that is needed here. */
export type Served = { readonly env: Exchange }

/** A request's header, several lines of it joined by commas, from what Node has parsed already. @param name in lower case */
export const requestHeader = (c: Served, name: string): string | undefined => {
  const value = c.env.incoming.headers[name]
  return typeof value === "string" ? value : value?.join(", ")
}

/** The address that a request comes from: behind a trusted proxy what `X-Forwarded-For` says, else the connection's other end. */
export const clientAddress = (c: Served): string => {
  const { incoming, server } = c.env
  return server.clientAddress.of(incoming.socket.remoteAddress, requestHeader(c, "x-forwarded-for"))
}

/** The id that the request's log line and answer have; empty where the server keeps no request log. */
export const requestIdOf = (c: Served): string => c.env.requestId

/** Says whose request it is, once the key is known to be valid. */
export const setAccount = (c: { set: (name: "account", value: string) => void }, account: string): void =>
  c.set("account", account)

/** Sets a header of the response that follows, errors too. The response's own header of that name wins. */
export const setHeader = (c: Served, name: string, value: string): void => {
  c.env.outgoing.setHeader(name, value)
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

/** The response that follows goes out without the headers that `serve` adds to every response. */
export const omitServerHeaders = (c: Served): void => {
  for (const name of c.env.server.headers.keys()) c.env.outgoing.removeHeader(name)
}

/** A handler as it is. Its route is named in the log anyway. */
export const routed = <E extends ServedEnv>(handler: Handler<E>): Handler<E> => handler
