import type { MiddlewareHandler } from "hono"
import { routePath } from "hono/route"
import type { Logger } from "./logger.ts"
import { outgoingOf, presetHeader } from "./outgoing.ts"
import { requestHeader } from "./request-header.ts"

/** What the middleware puts into the context. */
export type RequestLogEnv = { Variables: { requestId: string } }

const acceptable = /^[\w.-]{8,64}$/

/**
 * Gives each request an id (a well-formed `X-Request-Id` of the caller's is kept), answers with it, and writes one line a
 * request: id, method, route pattern, status, duration. Never the path itself, a query or a header: they can hold keys.
 * @param now a monotonic clock, in milliseconds
 */
export const requestLog = ({
  log,
  now,
  randomId,
  quiet = [],
}: {
  readonly log: Pick<Logger, "debug" | "info" | "error">
  readonly now: () => number
  readonly randomId: () => string
  /** Routes logged at level debug only: probes would fill the log. */
  readonly quiet?: readonly string[]
}): MiddlewareHandler<RequestLogEnv> => {
  return (c, next) => {
    const started = now()
    const given = requestHeader(c, "x-request-id")
    const requestId = given !== undefined && acceptable.test(given) ? given : randomId()
    c.set("requestId", requestId)
    presetHeader(c, "x-request-id", requestId)
    const write = (status: number): void => {
      const route = routePath(c, -1)
      const line = {
        request_id: requestId,
        method: c.req.method,
        route,
        status,
        duration_ms: Math.round((now() - started) * 100) / 100,
      }
      if (status >= 500) log.error(line, "request")
      else if (quiet.includes(route)) log.debug(line, "request")
      else log.info(line, "request")
    }
    const outgoing = outgoingOf(c)
    if (outgoing === undefined) return next().then(() => write(c.res.status))
    outgoing.onHead = write
    return next()
  }
}
