import type { ApiError } from "@svc/errors"
import type { Runtime } from "@svc/program"
import type { Principal } from "../auth.ts"
import type { Metrics } from "../metrics.ts"
import type { Definition } from "../routes/route.ts"
import type { Usage, UsageEvent } from "./usage.ts"

/** A transaction that a request sends, from the moment when its signature is known. */
export type Submission = {
  readonly signature: string
  /** What an error means for the transaction. */
  submissionState: "not_submitted" | "unknown"
}

/** The facts about one request on a route. */
export type Call = {
  readonly startedAt: number
  requestBytes: number
  /** Set once the request has passed authorization and the limit of its subject. */
  principal?: Principal
  submission?: Submission
}

const usageResult = (
  { class: of }: Definition,
  { submission }: Call,
  error: ApiError | undefined,
): UsageEvent["result"] => {
  if (of !== "send") return error === undefined ? "ok" : "error"
  if (error === undefined) return "accepted"
  return ({ not_submitted: "rejected", unknown: "unknown" } as const)[submission?.submissionState ?? "not_submitted"]
}

const identity = ({ claims: { sub = "anonymous", ...claims } }: Principal) => ({
  subject: sub,
  metering_key: claims.metering_key ?? sub,
  ...(claims.key_class !== undefined && { key_class: claims.key_class }),
  ...(claims.deployment_id !== undefined && { deployment_id: claims.deployment_id }),
  ...(claims.plan !== undefined && { plan: claims.plan }),
})

type MeteringDependencies = Pick<Runtime, "now" | "wallClock" | "randomId"> & {
  readonly metrics: Metrics
  readonly usage: Usage | undefined
}

/** Counts requests: as metrics for the operator, as usage records for billing. */
export const createMetering = ({ metrics, usage, now, wallClock, randomId }: MeteringDependencies) => ({
  begin: ({ operation }: Definition): Call => {
    metrics.begin(operation)
    return { startedAt: now(), requestBytes: 0 }
  },
  upstream: metrics.upstream,
  /** Called once for each request that started, with the error of its response, if any. */
  end: async (definition: Definition, call: Call, error: ApiError | undefined, response: Response): Promise<void> => {
    const { operation } = definition
    const latency = now() - call.startedAt
    metrics.end(operation, error === undefined ? "ok" : "error", latency, call.requestBytes)
    if (error !== undefined) metrics.denied(error)
    // Denied requests make no record.
    if (usage === undefined || call.principal === undefined) return
    usage.record({
      event_id: randomId(),
      occurred_at_ms: wallClock(),
      operation,
      result: usageResult(definition, call, error),
      request_bytes: call.requestBytes,
      response_bytes: (await response.clone().arrayBuffer()).byteLength,
      latency_ms: Math.round(latency * 1000) / 1000,
      ...identity(call.principal),
    })
  },
})

export type Metering = ReturnType<typeof createMetering>
