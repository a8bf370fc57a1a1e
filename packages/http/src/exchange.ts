import type { HttpBindings } from "@hono/node-server"
import type { Context } from "hono"
import type { ClientAddress } from "./client-address.ts"
import type { Connections } from "./connections/connections.ts"
import type { RequestLogOptions } from "./request-context.ts"
import type { Body } from "./requests/body.ts"
import type { JsonText } from "./requests/json-body.ts"

/** Both ends of a request, as the adapter gives them to an app, and what is known of it. */
export type Exchange = HttpBindings & {
  /** What all requests of the server share. */
  readonly server: {
    readonly requests: RequestLogOptions | undefined
    readonly clientAddress: ClientAddress
    /** Bounds what is kept for slow clients. */
    readonly connections: Pick<Connections, "hold" | "stream" | "cutOff">
  }
  /** Came after the server began to close, and too late to have crossed with that. */
  readonly isLate: boolean
  /** Its body, once that is taken from the connection. */
  body?: Body
  /** The request's id, which its response tells; empty when the server keeps no request log. */
  requestId: string
  /** When it began, on the log's clock. */
  began: number
  /** The pattern of the route that serves it. */
  route: string
  /** Its context in the app, which knows its account. */
  context?: Context<HttpEnv>
  /** Its trace, where telemetry is on. */
  traceId?: string
}

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
    /** The body of a route whose middleware is `jsonBody`. */
    json: JsonText
  }
}

/**
 * The path as it was sent, for Hono's `getPath`: `/a/../b` and `/%62` are not `/b`, because a proxy in front that allows paths
 * and the router must read them alike.
 */
export const sentPath = (request: { readonly url: string }, { env }: { env?: Partial<Exchange> } = {}): string => {
  const target = env?.incoming?.url ?? request.url
  // A proxy's form has the whole URL.
  const start = target.startsWith("/") ? 0 : target.indexOf("/", target.indexOf("//") + 2)
  return start === -1 ? "/" : target.slice(start).replace(/[?#].*$/s, "")
}

/**
 * Counts a response that doesn't end by itself. They take half of all connections at most, those without an account three
 * quarters of these: for more, the oldest of whoever has most is closed. Call it before such a response is returned.
 * @returns counts how many bytes wait for its client
 */
export const countStream = ({ env }: { readonly env: Exchange }): ((waitingBytes: number) => void) => {
  const { connections } = env.server
  let counted = 0
  connections.stream(env)
  return (waitingBytes) => {
    connections.hold(env, waitingBytes - counted)
    counted = waitingBytes
  }
}
