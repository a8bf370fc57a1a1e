import type { Logger } from "./logger.ts"
import { addressNetwork } from "../client-address.ts"
import { clientAddress, type Exchange } from "../exchange.ts"

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

/**
 * Gives each request an id (a well-formed `X-Request-Id` of the caller's is kept), answers with it, and writes one line a
 * request: id, method, route pattern, status, duration; of a refused one the account, if known, and the network. Never the path itself, a query or a header: they can hold keys.
 */
export const createRequestLog = ({ log, now, randomId, quiet = [] }: RequestLogOptions) => {
  const levelOf = (status: number, route: string) => {
    if (!quiet.includes(route)) return status >= 500 ? "error" : "info"
    // A probe's 503 is an answer like another: the service starts, stops or waits for something.
    return status === 503 ? "info" : status >= 500 ? "error" : "debug"
  }
  return {
    begin: (exchange: Exchange): void => {
      const { incoming, outgoing } = exchange
      const started = now()
      const given = incoming.headers["x-request-id"]
      const requestId = typeof given === "string" && acceptable.test(given) ? given : (outgoing.traceId ?? randomId())
      outgoing.requestId = requestId
      outgoing.onHead = (status) => {
        const { route } = outgoing
        const duration = Math.round((now() - started) * 100) / 100
        const { method = "" } = incoming
        const { traceId: trace_id } = outgoing
        const line = { request_id: requestId, method, route, status, duration_ms: duration, trace_id }
        const who = refusals.has(status) && {
          account: outgoing.account,
          network: addressNetwork(clientAddress({ env: exchange })),
        }
        log[levelOf(status, route)]({ ...line, ...who }, "request")
      }
    },
    /** For what no request could be made of. */
    unparsed: (answerTo: (requestId: string) => Response): Response => {
      const requestId = randomId()
      const answer = answerTo(requestId)
      answer.headers.set("x-request-id", requestId)
      log.info({ request_id: requestId, method: "-", route: "*", status: answer.status, duration_ms: 0 }, "request")
      return answer
    },
  }
}
