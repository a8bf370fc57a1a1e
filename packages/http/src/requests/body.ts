import { BodyError, type BodyFault } from "@svc/errors"
import type { IncomingMessage } from "node:http"
import { finished } from "node:stream"
import { type JsonRules, parseJsonText } from "./json.ts"
import { type Exchange, requestHeader, type Served } from "../exchange.ts"

type BodyOptions = {
  /** Largest body, in bytes. */
  readonly limit: number
  /** Longest time until the whole body is there, in milliseconds; none unless given. */
  readonly deadlineMs?: number
}

const empty = new Uint8Array(0)

/** Whether a request's head announces a body (RFC 9112 section 6). It may have no bytes. */
export const hasBody = ({ incoming: { headers } }: Exchange): boolean =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined

/** Whether all of a request's body has arrived: reading it waits for nothing. */
export const hasWholeBody = (c: Served): boolean => c.env.incoming.complete

/**
 * Reads a request's body, never more than `limit` bytes of it: a declared length over the limit is refused unread.
 * Throws BodyError `too-large`, `timeout` or `aborted`.
 */
export const readBody = async ({ env }: Served, { limit, deadlineMs }: BodyOptions): Promise<Uint8Array> => {
  const declared = env.incoming.headers["content-length"]
  if (declared !== undefined && Number(declared) > limit) throw new BodyError({ kind: "too-large", limit })
  if (declared === "0" || !hasBody(env)) return empty
  // The socket's own stream is read: a web stream in between costs a third of a small request.
  if (env.incoming.complete) return buffered(env.incoming, limit)
  return collect(env, limit, deadlineMs)
}

const joined = (chunks: readonly Uint8Array[]): Uint8Array =>
  chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)

// Needs neither listeners nor a timer. One read gives one piece.
const buffered = (incoming: IncomingMessage, limit: number): Uint8Array => {
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const chunk: unknown = incoming.read()
    if (!(chunk instanceof Uint8Array)) return joined(chunks)
    size += chunk.length
    if (size > limit) throw new BodyError({ kind: "too-large", limit })
    chunks.push(chunk)
  }
}

const collect = (exchange: Exchange, limit: number, deadlineMs: number | undefined): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const { incoming, server } = exchange
    const chunks: Buffer[] = []
    let size = 0
    const take = (chunk: Buffer): void => {
      size += chunk.length
      server.connections.hold(exchange, chunk.length)
      if (size > limit) settle({ kind: "too-large", limit })
      else chunks.push(chunk)
    }
    const settle = (fault?: BodyFault): void => {
      clearTimeout(deadline)
      server.connections.hold(exchange, -size)
      size = 0
      // What still comes is discarded.
      incoming.off("data", take).resume()
      if (fault === undefined) resolve(joined(chunks))
      else reject(new BodyError(fault))
    }
    const deadline = deadlineMs === undefined ? undefined : setTimeout(() => settle({ kind: "timeout" }), deadlineMs)
    incoming.on("data", take)
    finished(incoming, (error) => settle(error ? { kind: "aborted" } : undefined))
  })

export type JsonBodyOptions = BodyOptions &
  JsonRules & {
    /** The value that an empty body stands for; without it a Content-Type and a body are required. */
    readonly emptyAs?: unknown
    /** Told how many bytes the body has, once all of it is there. */
    readonly onSize?: (bytes: number) => void
  }

/** What keeps a request's body from being read as UTF-8 JSON, by its headers; undefined when nothing does. */
export const jsonTypeFault = (c: Served): string | undefined => {
  const encoding = requestHeader(c, "content-encoding")?.trim().toLowerCase() ?? "identity"
  if (encoding !== "identity") return "the body must not be compressed (Content-Encoding)"
  const [type = "", ...parameters] = (requestHeader(c, "content-type") ?? "").toLowerCase().split(";")
  if (type.trim() !== "application/json") return "the body must be JSON with Content-Type: application/json"
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith("charset="))
  return charset === undefined || /^charset="?utf-?8"?$/.test(charset) ? undefined : "the charset must be UTF-8"
}

/**
 * Reads a JSON body, in this order: content type, declared length, bytes under the cap and the deadline, UTF-8, JSON.
 * Throws BodyError. Without a Content-Type only an empty body is taken, and only where `emptyAs` is given.
 */
export const readJson = async (c: Served, options: JsonBodyOptions): Promise<unknown> =>
  (await readJsonText(c, options)).value

/** As `readJson`; with the text, where the body isn't empty. */
export const readJsonText = async (
  c: Served,
  options: JsonBodyOptions,
): Promise<{ readonly value: unknown; readonly text?: string }> => {
  const mayBeEmpty = "emptyAs" in options
  const fault = jsonTypeFault(c)
  const untyped = mayBeEmpty && requestHeader(c, "content-type") === undefined
  if (fault !== undefined && !untyped) throw new BodyError({ kind: "unsupported-media-type", reason: fault })
  const bytes = await readBody(c, options)
  options.onSize?.(bytes.length)
  if (mayBeEmpty && bytes.length === 0) return { value: options.emptyAs }
  if (fault !== undefined) throw new BodyError({ kind: "unsupported-media-type", reason: fault })
  try {
    return parseJsonText(bytes, options)
  } catch (error) {
    if (error instanceof RangeError) throw new BodyError({ kind: "invalid", path: "", reason: error.message })
    // A TypeError is the decoder's: its text names the encoding, not the client's bytes.
    const reason = error instanceof SyntaxError ? jsonReason(error) : "the body is not UTF-8"
    throw new BodyError({ kind: "invalid-json", reason })
  }
}

// V8's message quotes the text around the fault; a body can hold a secret, so only its place is told.
const jsonReason = (error: SyntaxError): string => {
  if (error.message.startsWith("the key ")) return error.message
  const place = /at position (\d+)/.exec(error.message)?.[1]
  return place === undefined ? "the body is not JSON" : `the body is not JSON (at position ${place})`
}
