import { context, diag, DiagLogLevel, metrics, propagation, trace } from "@opentelemetry/api"
import type { TrustedNetwork } from "@svc/http"
import { createMetricReaders } from "./metric-readers.ts"
import { observeProcess } from "./process-metrics.ts"
import { observeRequests, type RequestObserver } from "./requests.ts"
import { createSampler } from "./sampling.ts"
import { createSpanProcessors } from "./span-processors.ts"
import type { Env } from "./variables.ts"

export type TelemetryOptions = {
  /** Everything OTEL_*; the OTLP exporters read their own from the process's environment. */
  readonly env: Env
  /** `service.name` unless OTEL_SERVICE_NAME says otherwise. */
  readonly service: string
  readonly version: string
  /** Tells this process from its replicas. */
  readonly instanceId: string
  /** Of the Prometheus page unless OTEL_EXPORTER_PROMETHEUS_PORT says otherwise. */
  readonly prometheusPort: number
  /** Whose sampled flag counts, besides this machine's own. */
  readonly trustedProxies: readonly TrustedNetwork[]
  /** Told what goes wrong while exporting. */
  readonly log: { readonly warn: (details: object, message: string) => void }
}

export type Telemetry = {
  /** For `serve`. */
  readonly observe: RequestObserver
  readonly stop: () => Promise<void>
}

/**
 * Starts metrics and traces as the standard OTEL_* variables say. The SDK is loaded here and nowhere else: it costs 30 MB.
 * Throws ConfigError.
 */
export const startTelemetry = async (options: TelemetryOptions): Promise<Telemetry> => {
  const { env, log } = options
  const onProblem = (reason: string): void =>
    log.warn({ reason: reason.slice(0, 300) }, "the telemetry could not be exported")
  const ignore = () => {}
  diag.setLogger({ error: onProblem, warn: onProblem, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN)
  const { MeterProvider } = await import("@opentelemetry/sdk-metrics")
  const { TracerProvider } = await import("@opentelemetry/sdk-trace")
  const { AsyncLocalStorageContextManager } = await import("@opentelemetry/context-async-hooks")
  const { W3CTraceContextPropagator } = await import("@opentelemetry/core")
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } =
    await import("@opentelemetry/resources")
  const resource = defaultResource()
    .merge(
      resourceFromAttributes({
        "service.name": options.service,
        "service.version": options.version,
        "service.instance.id": options.instanceId,
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }))
  const sampler = await createSampler(env)
  const spanProcessors = await createSpanProcessors(env)
  const readers = await createMetricReaders(env, options.prometheusPort)
  const meters = new MeterProvider({ resource, readers })
  const tracers = new TracerProvider({ resource, sampler, spanProcessors })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  metrics.setGlobalMeterProvider(meters)
  trace.setGlobalTracerProvider(tracers)
  const stopObserving = observeProcess()
  // A collector that is away must not turn an orderly stop into a failed one.
  const quietly = (stopping: Promise<void>) => stopping.catch((error: unknown) => onProblem(String(error)))
  return {
    observe: observeRequests(options.trustedProxies),
    stop: async () => {
      stopObserving()
      await Promise.all([quietly(tracers.shutdown()), quietly(meters.shutdown({ timeoutMillis: 5000 }))])
    },
  }
}
