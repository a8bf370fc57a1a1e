import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"
import type { Socket } from "node:net"
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
 * Node's response, with what is known of the request before there is an answer: what other houses keep in Hono's context
 * by middlewares, which cost each request more than its handler does (docs/decisions/http.md). Apps reach it by the
 * functions of exchange.ts alone.
 */
export class Outgoing extends ServerResponse {
  shared = none
  /** Whether the server's headers are sent: a handler may want none of them. */
  sharesHeaders = true
  /** Headers of whatever answer follows, by their names in lower case. */
  readonly preset: Record<string, string> = {}
  /** The request's id; empty when the server keeps no request log. */
  requestId = ""
  /** The request's trace, where telemetry is on. */
  traceId: string | undefined
  /** Whether the word of a connection's other end on traces counts, where telemetry is on. */
  trustsTraces: ((socket: Socket) => boolean) | undefined
  /** The pattern of the route that serves the request, for the log. */
  route = "*"
  /** Called with the status when the answer's head is written. */
  onHead: ((status: number) => void) | undefined
  /** Called once the answer is out, or its connection gone: a listener would cost each request an entry in a list. */
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
    // Nearly always the system has taken all of it by now, though the stream calls itself finished a tick later only.
    if (this.writableLength > 0) this.shared.clients.unsent(this)
    return this
  }
}
