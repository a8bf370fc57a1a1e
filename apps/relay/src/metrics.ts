import type { Meter } from "@opentelemetry/api"
import type { Limits } from "@svc/limits"
import { clientSpan } from "@svc/telemetry"

const upstreamOutcomes = ["ok", "rpc_error", "http_error", "transport_error", "timeout"] as const
const denialReasons = ["auth", "scope", "rate_limit", "concurrency", "request_size"] as const

export type UpstreamOutcome = (typeof upstreamOutcomes)[number]
export type DenialReason = (typeof denialReasons)[number]

type Answered = { readonly kind: string; readonly status?: number; readonly code?: number }

/** Makes one call to the provider, with a span that tells whether it failed and how. */
export const providerSpan = <T extends Answered>(method: string, call: () => Promise<T>): Promise<T> =>
  clientSpan(`provider ${method}`, { "rpc.system.name": "jsonrpc", "rpc.method": method }, async (fail) => {
    const answer = await call()
    const { kind, status, code } = answer
    if (kind === "rpc-error") fail(String(code), { "rpc.response.status_code": String(code) })
    else if (kind === "http-error") fail(String(status), { "http.response.status_code": status })
    else if (kind !== "result" && kind !== "value") fail(kind.replace("-", "_"))
    return answer
  })

/** What an upstream is called outside: never by its URL. */
export const upstreamName = (index: number): string => (index === 0 ? "first" : `fallback-${index}`)

/** Shows which of `count` upstreams gave the last answer to a read: 1 for that one, 0 for the others. */
export const observeReads = (meter: Meter, count: number, answering: () => number): void => {
  const gauge = meter.createObservableGauge("svc.relay.upstream.answering", {
    description: "1 for the upstream that gave the last answer to a read, 0 for the others.",
  })
  gauge.addCallback((result) => {
    for (let index = 0; index < count; index++) {
      result.observe(index === answering() ? 1 : 0, { upstream: upstreamName(index) })
    }
  })
}

/** Shows who counts the limits now: 1 for that mode, 0 for the other. */
export const observeLimits = (meter: Meter, limits: Pick<Limits, "mode">): void => {
  const gauge = meter.createObservableGauge("svc.limits.mode", {
    description: "1 for who counts the limits now: the store for all replicas (shared), or each for itself (local).",
  })
  gauge.addCallback((result) => {
    for (const mode of ["shared", "local"] as const) result.observe(limits.mode() === mode ? 1 : 0, { mode })
  })
}

/** @param age seconds since the session keys were fetched from their URL; undefined while they never were */
export const observeKeys = (meter: Meter, age: () => number | undefined): void => {
  meter
    .createObservableGauge("svc.relay.jwks.age", { unit: "s", description: "Since the session keys were fetched." })
    .addCallback((result) => {
      const seconds = age()
      if (seconds !== undefined) result.observe(seconds)
    })
}

/** The instruments. Their attributes come from short fixed lists: never an identity, never a signature. */
export const createMetrics = (meter: Meter) => {
  const requests = meter.createCounter("svc.transaction.requests.total", { description: "Requests on the routes." })
  const duration = meter.createHistogram("svc.transaction.request.duration", {
    unit: "ms",
    description: "From a request's arrival to its answer.",
  })
  const bytes = meter.createHistogram("svc.transaction.request.bytes", {
    unit: "By",
    description: "Size of request bodies.",
    advice: { explicitBucketBoundaries: [64, 128, 256, 512, 1024, 2048, 4096, 8192] },
  })
  const upstream = meter.createCounter("svc.transaction.upstream.total", { description: "Calls to the provider." })
  const inflight = meter.createUpDownCounter("svc.transaction.inflight", { description: "Requests being served." })
  const denials = meter.createCounter("svc.transaction.denials.total", { description: "Requests turned away." })
  // What never happened is 0: a series that begins with its first event has no rate.
  for (const outcome of upstreamOutcomes) upstream.add(0, { outcome })
  for (const reason of denialReasons) denials.add(0, { reason })

  return {
    begin: (operation: string): void => inflight.add(1, { operation }),
    end: (operation: string, result: "ok" | "error", durationMs: number, requestBytes: number): void => {
      inflight.add(-1, { operation })
      const attributes = { operation, result }
      requests.add(1, attributes)
      duration.record(durationMs, attributes)
      bytes.record(requestBytes, attributes)
    },
    upstream: (outcome: UpstreamOutcome): void => upstream.add(1, { outcome }),
    denied: (reason: DenialReason): void => denials.add(1, { reason }),
  }
}

export type Metrics = ReturnType<typeof createMetrics>
