import type { Meter } from "@opentelemetry/api"
import type { ApiError } from "@svc/errors"
import { clientSpan } from "@svc/telemetry"
import type { errors } from "./errors.ts"
import type { UpstreamResponse } from "./upstream/upstream.ts"

export const upstreamOutcomes: Readonly<Record<UpstreamResponse["kind"], string>> = {
  result: "ok",
  "rpc-error": "rpc_error",
  "http-error": "http_error",
  malformed: "http_error",
  "transport-error": "transport_error",
  timeout: "timeout",
}

type Rows = typeof errors.rows
type Denial = { [Code in keyof Rows]: Rows[Code]["status"] extends 403 | 413 | 429 | 503 ? Code : never }[keyof Rows]

/** Why an error denies a request, by its code. A 401 does for `auth`. */
export const denialReasons: Readonly<Record<string, string>> = {
  auth_unavailable: "auth",
  forbidden: "auth",
  "origin-mismatch": "auth",
  "origin-required": "auth",
  insufficient_scope: "scope",
  rate_limit_exceeded: "rate_limit",
  server_busy: "concurrency",
  request_too_large: "request_size",
  transaction_too_large: "request_size",
} satisfies Record<Denial | "transaction_too_large", string>

type Outcome = { readonly kind: string; readonly status?: number; readonly code?: number }

/** Makes one call to the provider, with a span that shows how it failed. */
export const providerSpan = <T extends Outcome>(method: string, call: () => Promise<T>): Promise<T> =>
  clientSpan(`provider ${method}`, { "rpc.system.name": "jsonrpc", "rpc.method": method }, async (fail) => {
    const response = await call()
    const { kind, status, code } = response
    if (kind === "rpc-error") fail(String(code), { "rpc.response.status_code": String(code) })
    else if (kind === "http-error") fail(String(status), { "http.response.status_code": status })
    else if (kind !== "result" && kind !== "value") fail(kind.replace("-", "_"))
    return response
  })

/** The public name of an upstream, which doesn't show its URL. */
export const upstreamName = (index: number): string => (index === 0 ? "first" : `fallback-${index}`)

/** Shows which of `count` upstreams responded to the last read: 1 for that one, 0 for the others. */
export const observeReads = (meter: Meter, count: number, answering: () => number): void => {
  const gauge = meter.createObservableGauge("svc.relay.upstream.answering", {
    description: "1 for the upstream that responded to the last read, 0 for the others.",
  })
  gauge.addCallback((result) => {
    for (let index = 0; index < count; index++) {
      result.observe(index === answering() ? 1 : 0, { upstream: upstreamName(index) })
    }
  })
}

/** @param age seconds since the session keys were fetched from their URL; undefined before the first fetch */
export const observeKeys = (meter: Meter, age: () => number | undefined): void => {
  meter
    .createObservableGauge("svc.relay.jwks.age", {
      unit: "s",
      description: "Time since the session keys were fetched.",
    })
    .addCallback((result) => {
      const seconds = age()
      if (seconds !== undefined) result.observe(seconds)
    })
}

/** Makes the instruments. Their attributes come from short fixed lists, and never contain an identity or a signature. */
export const createMetrics = (meter: Meter) => {
  const requests = meter.createCounter("svc.transaction.requests.total", { description: "Requests on the routes." })
  const duration = meter.createHistogram("svc.transaction.request.duration", {
    unit: "ms",
    description: "From the arrival of a request to its response.",
  })
  const bytes = meter.createHistogram("svc.transaction.request.bytes", {
    unit: "By",
    description: "Size of request bodies.",
    advice: { explicitBucketBoundaries: [64, 128, 256, 512, 1024, 2048, 4096, 8192] },
  })
  const upstream = meter.createCounter("svc.transaction.upstream.total", { description: "Calls to the provider." })
  const inflight = meter.createUpDownCounter("svc.transaction.inflight", { description: "Requests in progress." })
  const denials = meter.createCounter("svc.transaction.denials.total", { description: "Rejected requests." })
  // Each series starts at 0: a series that starts with its first event has no rate.
  for (const outcome of Object.values(upstreamOutcomes)) upstream.add(0, { outcome })
  for (const reason of Object.values(denialReasons)) denials.add(0, { reason })

  return {
    begin: (operation: string): void => inflight.add(1, { operation }),
    end: (operation: string, result: "ok" | "error", durationMs: number, requestBytes: number): void => {
      inflight.add(-1, { operation })
      const attributes = { operation, result }
      requests.add(1, attributes)
      duration.record(durationMs, attributes)
      bytes.record(requestBytes, attributes)
    },
    upstream: (kind: UpstreamResponse["kind"]): void => upstream.add(1, { outcome: upstreamOutcomes[kind] }),
    /** Counts a request that ended with this error, if that denies it. */
    denied: ({ code, status }: ApiError): void => {
      const reason = status === 401 ? "auth" : denialReasons[code]
      if (reason !== undefined) denials.add(1, { reason })
    },
  }
}

export type Metrics = ReturnType<typeof createMetrics>
