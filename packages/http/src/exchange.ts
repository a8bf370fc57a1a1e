import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Context } from "hono"
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

/** The part of such an app's context that is needed here. */
export type Served = { readonly env: Exchange }

/** Sets a header of the response that follows, errors and prepared ones too. The response's own header of that name wins. */
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
