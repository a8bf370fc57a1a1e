import type { IncomingMessage } from "node:http"
import { addressNetwork } from "../client-address.ts"
import type { Exchange } from "../exchange.ts"
import type { Logger } from "./logger.ts"

export type RequestLogOptions = {
  readonly log: Pick<Logger, "debug" | "info" | "warn" | "error">
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly randomId: () => string
  /** Routes logged at level debug only: probes would fill the log. */
  readonly quiet?: readonly string[]
}

// An operator has to find who is behind them, without a full address in the log.
const refusals = new Set([401, 403, 429])

const acceptable = /^[\w.-]{8,64}$/

/** The id that a caller sent as `X-Request-Id`, if it is well-formed. */
export const sentRequestId = ({ headers }: IncomingMessage): string | undefined => {
  const given = headers["x-request-id"]
  return typeof given === "string" && acceptable.test(given) ? given : undefined
}

const levelOf = (status: number, isQuiet: boolean) => {
  if (!isQuiet) return status >= 500 ? "error" : "info"
  // A probe's 503 is an answer like another: the service starts, stops or waits for something.
  return status === 503 ? "info" : status >= 500 ? "error" : "debug"
}

/**
 * Writes the line of a request whose response is about to be sent: id, method, route pattern, status, duration; of a refused one
 * the account, if known, and the network. Never the path itself, a query or a header: they can hold keys.
 */
export const logRequest = (exchange: Exchange, status: number): void => {
  const { incoming, server, requestId, began, route, context, traceId: trace_id } = exchange
  if (server.requests === undefined) return
  const { log, now, quiet = [] } = server.requests
  const duration = Math.round((now() - began) * 100) / 100
  const { method = "" } = incoming
  const line = { request_id: requestId, method, route, status, duration_ms: duration, trace_id }
  const who = context !== undefined &&
    refusals.has(status) && { account: context.get("account"), network: addressNetwork(context.get("clientAddress")) }
  log[levelOf(status, quiet.includes(route))]({ ...line, ...who }, "request")
}
