import {
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
  validateHeaderName,
  validateHeaderValue,
} from "node:http"
import type { Socket } from "node:net"
import { type ClientAddress, createClientAddress } from "./client-address.ts"
import type { Connections } from "./connections/connections.ts"

/** Headers that HTTP allows, by their names in lower case. */
type CheckedHeaders = ReadonlyMap<string, string>

/** What all responses of a server have in common, read when a response begins. */
type Shared = {
  /** Headers of every answer, unless the answer or its handler says otherwise. */
  readonly common: CheckedHeaders
  readonly draining: boolean
  readonly clientAddress: ClientAddress
  /** Bounds what is kept for slow clients. */
  readonly connections: Pick<Connections, "hold" | "release" | "ended">
}

const nothing = (): void => {}
const none: Shared = {
  common: new Map(),
  draining: false,
  clientAddress: createClientAddress([]),
  connections: { hold: nothing, release: nothing, ended: nothing },
}

/** Headers, and the same as they go out. */
type Block = { readonly headers: CheckedHeaders; readonly lines: string }

const blocks = new WeakMap<object, Block>()

const lineOf = (name: string, value: string): string => `${name}: ${value}\r\n`

/** Throws a TypeError for a header that HTTP doesn't allow. */
export const checkedHeaders = (headers: Readonly<Record<string, string>>): CheckedHeaders =>
  new Map(
    Object.entries(headers).map(([name, value]) => {
      validateHeaderName(name)
      validateHeaderValue(name, value)
      return [name.toLowerCase(), value]
    }),
  )

/**
 * Headers that many responses have, checked and written as lines once instead of for each response. Hand the record that this
 * returns to `new Response`, not a copy. Throws a TypeError for a header that HTTP doesn't allow. Not for headers by which
 * Node frames a message: Connection, Content-Length, Date, Transfer-Encoding.
 */
export const fixedHeaders = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const own = Object.freeze({ ...headers })
  const all = checkedHeaders(own)
  blocks.set(own, { headers: all, lines: [...all].map(([name, value]) => lineOf(name, value)).join("") })
  return own
}

/**
 * Node's response, with what is known of the request before there is a response. Hono's idiom for this is middlewares and its
 * context, which cost each request more than its handler does (docs/decisions/http.md). Apps reach it only through the
 * functions of exchange.ts.
 */
export class Outgoing extends ServerResponse {
  /** Node's own: the head as it will go out. */
  declare _header: string
  shared = none
  /** Whether the server's headers are sent. */
  sharesHeaders = true
  /** Headers of the response that follows, by their names in lower case. */
  readonly preset: Record<string, string> = {}
  /** The request's id, which the response tells; empty when the server keeps no request log. */
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
    const { common, draining } = this.shared
    const own: OutgoingHttpHeaders = { ...this.preset }
    const fixed = given && blocks.get(given)
    // One name in two cases would go out twice.
    if (fixed === undefined) for (const name in given) own[name.toLowerCase()] = given[name]
    else for (const name in own) if (fixed.headers.has(name)) delete own[name]
    const isNamed = (name: string): boolean => own[name] !== undefined || fixed?.headers.has(name) === true
    let lines = fixed?.lines ?? ""
    // No more than letters, digits, and `_.-`: Node needn't look at it.
    if (this.requestId !== "" && !isNamed("x-request-id")) lines += lineOf("x-request-id", this.requestId)
    if (this.sharesHeaders) for (const [name, value] of common) if (!isNamed(name)) lines += lineOf(name, value)
    if (draining) own["connection"] = "close"
    super.writeHead(status, own)
    const { _header: head } = this
    const afterStatus = head.indexOf("\n") + 1
    // oxlint-disable-next-line no-underscore-dangle
    if (lines !== "") this._header = head.slice(0, afterStatus) + lines + head.slice(afterStatus)
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
