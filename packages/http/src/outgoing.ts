import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { type ClientAddress, createClientAddress } from "./client-address.ts"
import type { Connections } from "./connections/connections.ts"

/** What all responses of a server have in common, read when a response begins. */
type Shared = {
  readonly headers: Readonly<Record<string, string>>
  readonly draining: boolean
  readonly clientAddress: ClientAddress
  /** Bounds what is kept for slow clients. */
  readonly connections: Pick<Connections, "hold" | "release" | "ended">
}

const nothing = (): void => {}
const none: Shared = {
  headers: {},
  draining: false,
  clientAddress: createClientAddress([]),
  connections: { hold: nothing, release: nothing, ended: nothing },
}

/**
 * Node's response, with what is known of the request before there is a response. Hono's idiom for this is middlewares and its
 * context, which cost each request more than its handler does (docs/decisions/http.md). Apps reach it only through the
 * functions of exchange.ts.
 */
export class Outgoing extends ServerResponse {
  shared = none
  /** Whether the server's headers are sent. */
  sharesHeaders = true
  /** Headers of the response that follows, by their names in lower case. */
  readonly preset: Record<string, string> = {}
  /** The request's id; empty when the server keeps no request log. */
  requestId = ""
  /** The request's trace, where telemetry is on. */
  traceId: string | undefined
  /** The account that the request belongs to, once its key is known to be valid. */
  account: string | undefined
  /** Whether a connection's other end decides which traces are kept, where telemetry is on. */
  trustsTraces: ((socket: Socket) => boolean) | undefined
  /** The pattern of the route that serves the request, for the log. */
  route = "*"
  /** Called with the status when the response's head is written. */
  onHead: ((status: number) => void) | undefined
  /** Called once the response is out or its connection gone. A listener would cost more. */
  onClose: (() => void) | undefined

  override writeHead(
    status: number,
    message?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    // The adapter gives a record or nothing, never Node's list of names and values.
    const given = (typeof message === "string" ? headers : message) as OutgoingHttpHeaders | undefined
    const { headers: common, draining } = this.shared
    const own: OutgoingHttpHeaders = { ...(this.sharesHeaders ? common : undefined), ...this.preset }
    // One name in two cases would go out twice.
    for (const name in given) own[name.toLowerCase()] = given[name]
    if (draining) own["connection"] = "close"
    super.writeHead(status, own)
    this.onHead?.(status)
    return this
  }

  override emit(event: string | symbol, ...given: unknown[]): boolean {
    const { onClose } = this
    if (event === "close" && onClose !== undefined) {
      this.onClose = undefined
      onClose()
    }
    return super.emit(event, ...given)
  }

  // Node sorts out which of its three parameters are given.
  override end(chunk?: unknown, encoding?: unknown, done?: unknown): this {
    super.end(chunk, encoding as BufferEncoding, done as () => void)
    this.shared.connections.ended(this)
    return this
  }
}
