import type { ApiError } from "@svc/errors"
import type { Principal } from "../auth.ts"
import type { DenialReason, Metrics, UpstreamOutcome } from "../metrics.ts"
import type { Definition } from "../routes/route.ts"
import type { UpstreamAnswer } from "../upstream/upstream.ts"
import type { Usage, UsageEvent } from "./usage.ts"

/** What is known so far about one request on a route. */
export type Call = {
  readonly startedAt: number
  requestBytes: number
  /** Once the request is past authorization and its subject's bucket. */
  principal?: Principal
}

const denialReasons: Readonly<Record<string, DenialReason>> = {
  auth_unavailable: "auth",
  forbidden: "auth",
  "origin-mismatch": "auth",
  "origin-required": "auth",
  insufficient_scope: "scope",
  rate_limit_exceeded: "rate_limit",
  server_busy: "concurrency",
  request_too_large: "request_size",
  transaction_too_large: "request_size",
}

const denialReason = ({ code, status }: ApiError): DenialReason | undefined =>
  status === 401 ? "auth" : denialReasons[code]

const upstreamOutcomes: Readonly<Record<UpstreamAnswer["kind"], UpstreamOutcome>> = {
  result: "ok",
  "rpc-error": "rpc_error",
  "http-error": "http_error",
  malformed: "http_error",
  "transport-error": "transport_error",
  timeout: "timeout",
}

const usageResult = ({ class: of }: Definition, refusal: ApiError | undefined): UsageEvent["result"] => {
  if (of !== "send") return refusal === undefined ? "ok" : "error"
  if (refusal === undefined) return "accepted"
  return refusal.extra["submissionState"] === "unknown" ? "unknown" : "rejected"
}

const identity = ({ claims }: Principal) => ({
  ...(claims.sub !== undefined && { subject: claims.sub }),
  ...(claims.metering_key !== undefined && { metering_key: claims.metering_key }),
  ...(claims.key_class !== undefined && { key_class: claims.key_class }),
  ...(claims.deployment_id !== undefined && { deployment_id: claims.deployment_id }),
  ...(claims.plan !== undefined && { plan: claims.plan }),
})

export type MeteringDependencies = {
  readonly metrics: Metrics
  readonly usage: Usage | undefined
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  /** A UUID. */
  readonly eventId: () => string
}

/** Makes what counts requests: for the operator as metrics, for who pays as usage records. */
export const createMetering = ({ metrics, usage, now, wallClock, eventId }: MeteringDependencies) => ({
  begin: ({ operation }: Definition): Call => {
    metrics.begin(operation)
    return { startedAt: now(), requestBytes: 0 }
  },
  upstream: (kind: UpstreamAnswer["kind"]): void => metrics.upstream(upstreamOutcomes[kind]),
  /** Once for each call that began, with the error that its response tells, if any. */
  end: async (definition: Definition, call: Call, refusal: ApiError | undefined, response: Response): Promise<void> => {
    const { operation } = definition
    const latency = now() - call.startedAt
    metrics.end(operation, refusal === undefined ? "ok" : "error", latency, call.requestBytes)
    const denied = refusal && denialReason(refusal)
    if (denied !== undefined) metrics.denied(denied)
    // Denied requests make no record.
    if (usage === undefined || call.principal === undefined) return
    usage.record({
      event_id: eventId(),
      occurred_at_ms: wallClock(),
      operation,
      result: usageResult(definition, refusal),
      request_bytes: call.requestBytes,
      response_bytes: (await response.clone().arrayBuffer()).byteLength,
      latency_ms: Math.round(latency * 1000) / 1000,
      ...identity(call.principal),
    })
  },
})

export type Metering = ReturnType<typeof createMetering>
