import { BodyError, type BodyFault } from "@svc/errors"
import type { IncomingMessage } from "node:http"
import { finished } from "node:stream"
import type { Exchange } from "../request-context.ts"

export type BodyOptions = {
  /** Largest body, in bytes. */
  readonly limit: number
  /** Longest time until the whole body is there, in milliseconds; none unless given. */
  readonly deadlineMs?: number | undefined
}

/** A body that is taken from its connection as it arrives. */
export type Body = {
  /** Resolves with all of it. Throws BodyError. */
  readonly read: (options: BodyOptions) => Promise<Uint8Array>
  /** Keeps nothing of it, and resolves when all of it has arrived. */
  readonly discard: () => Promise<void>
}

/** The longest that a service waits for a body, in milliseconds. Caddy, as it is shipped, waits longer. */
export const longestBodyMs = 30_000

const empty = new Uint8Array(0)
// What is kept of a body before a handler reads it.
const unreadBytes = 65_536
// Each chunk of a body costs an event. On average they must have so many bytes, once there are more than a few hundred.
export const freeChunks = 512
export const leastBytesPerChunk = 32
const lingerMs = 1000

/** Whether a request's head announces a body (RFC 9112 section 6). It may have no bytes. */
export const hasBody = ({ incoming: { headers } }: Exchange): boolean =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined

/** Whether a request's head says that there are no bytes. */
export const isBodyless = (exchange: Exchange): boolean =>
  !hasBody(exchange) || exchange.incoming.headers["content-length"] === "0"

/**
 * Lets a connection end with a response, unless the request's body is still on its way: ending it then would reset it under a
 * client, mostly a proxy, that still sends and would lose the response (RFC 9112 section 9.6).
 */
export const endAfter = (exchange: Exchange): void => {
  const { incoming, outgoing } = exchange
  if (!outgoing.headersSent && (incoming.complete || !hasBody(exchange))) outgoing.setHeader("connection", "close")
}

/**
 * Keeps a connection open that its client wants to end with this response, until the request's body is there, at most a second
 * longer: a reset could overtake the response, and a proxy would report a bad gateway.
 */
export const endAfterBody = (exchange: Exchange): void => {
  const { incoming, outgoing } = exchange
  if (outgoing.shouldKeepAlive || incoming.complete || !hasBody(exchange) || outgoing.hasHeader("connection")) return
  outgoing.setHeader("connection", "keep-alive")
  const end = (): void => incoming.socket.destroySoon()
  incoming.once("end", () => {
    if (outgoing.writableFinished) end()
    else if (!outgoing.headersSent) outgoing.setHeader("connection", "close")
  })
  outgoing.once("finish", () => {
    if (incoming.complete) end()
    else setTimeout(end, lingerMs).unref()
  })
}

/** Whether all of a request's body has arrived: reading it waits for nothing. */
export const hasWholeBody = (c: { readonly env: Exchange }): boolean => c.env.incoming.complete

/**
 * Reads a request's body, never more than `limit` bytes of it: a declared length over the limit is refused unread.
 * Throws BodyError `too-large`, `timeout` or `aborted`.
 */
export const readBody = async ({ env }: { readonly env: Exchange }, options: BodyOptions): Promise<Uint8Array> => {
  const { incoming } = env
  const { limit } = options
  if (isBodyless(env)) return empty
  const declared = incoming.headers["content-length"]
  if (declared !== undefined && Number(declared) > limit) throw new BodyError({ kind: "too-large", limit })
  // The socket's own stream is read: a web stream in between costs a third of a small request.
  if (env.body !== undefined || !incoming.complete) return (env.body ??= takeBody(env)).read(options)
  return buffered(incoming, limit)
}

// Few reads brought it, and each gives one piece.
const buffered = (incoming: IncomingMessage, limit: number): Uint8Array => {
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const chunk: unknown = incoming.read()
    if (!(chunk instanceof Uint8Array)) return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
    size += chunk.length
    if (size > limit) throw new BodyError({ kind: "too-large", limit })
    chunks.push(chunk)
  }
}

/**
 * Takes a body from its connection as it arrives, into one buffer: what is kept is what is counted. A client that sends needlessly
 * small chunks is cut off. Called before anything was read of it.
 */
export const takeBody = (exchange: Exchange): Body => {
  const { incoming, outgoing, server } = exchange
  const { hold, cutOff } = server.connections
  const declared = Number(incoming.headers["content-length"] ?? Infinity)
  const ended = Promise.withResolvers<void>()
  ended.promise.catch(() => {})
  let kept: Uint8Array = empty
  let size = 0
  let seen = 0
  let chunks = 0
  let limit: number | undefined
  let isKept = true

  const drop = (): void => {
    isKept = false
    hold(exchange, -kept.length)
    kept = empty
    // What still comes is discarded.
    incoming.resume()
  }
  const fail = (fault: BodyFault): void => {
    drop()
    ended.reject(new BodyError(fault))
  }
  const keep = (chunk: Uint8Array): void => {
    const { length } = kept
    const needed = size + chunk.length
    if (size === 0) kept = chunk
    else {
      if (needed > length)
        kept = Buffer.concat([kept.subarray(0, size)], Math.max(needed, Math.min(2 * length, declared)))
      kept.set(chunk, size)
    }
    size = needed
    hold(exchange, kept.length - length)
  }
  const take = (chunk: Uint8Array): void => {
    seen += chunk.length
    if (++chunks > freeChunks && seen < chunks * leastBytesPerChunk) return cutOff(exchange, "smallChunks")
    if (!isKept) return
    if (limit !== undefined && size + chunk.length > limit) return fail({ kind: "too-large", limit })
    keep(chunk)
    if (limit === undefined && size >= unreadBytes) incoming.pause()
  }

  // Reads at once what the parser hands over. Otherwise each chunk would wait as an object of its own.
  incoming.on("data", take).read(0)
  finished(incoming, (error) => (error ? fail({ kind: "aborted" }) : ended.resolve()))
  outgoing.once("close", drop)
  return {
    read: async ({ limit: most, deadlineMs }) => {
      limit = most
      if (size > most) {
        drop()
        throw new BodyError({ kind: "too-large", limit: most })
      }
      incoming.resume()
      const deadline = deadlineMs === undefined ? undefined : setTimeout(fail, deadlineMs, { kind: "timeout" })
      try {
        await ended.promise
        return kept.subarray(0, size)
      } finally {
        clearTimeout(deadline)
        drop()
      }
    },
    discard: () => {
      drop()
      return ended.promise
    },
  }
}
