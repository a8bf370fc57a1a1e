import { context, diag, DiagLogLevel, metrics, propagation, trace } from "@opentelemetry/api"
import { ConfigError } from "@svc/config"
import type { Runtime, TrustedNetwork } from "@svc/http"
import { createMetricReaders } from "./metric-readers.ts"
import type { Collector } from "./otlp.ts"
import { observeProcess } from "./process-metrics.ts"
import { observeRequests, type RequestObserver } from "./requests.ts"
import { createSampler } from "./sampling.ts"
import { createSpanProcessors } from "./span-processors.ts"
import { switchOn } from "./spans.ts"
import { valueOf } from "./variables.ts"

export type TelemetryOptions = {
  /** `service.name` unless OTEL_SERVICE_NAME says otherwise. */
  readonly service: string
  readonly version: string
  /** Of the Prometheus page unless OTEL_EXPORTER_PROMETHEUS_PORT says otherwise. */
  readonly prometheusPort: number
  /** Told what goes wrong while exporting. */
  readonly log: { readonly warn: (details: object, message: string) => void }
}

export type Telemetry = {
  /** For `serve`. */
  readonly observe: RequestObserver
  readonly stop: () => Promise<void>
}

/** What all of these give. Throws one ConfigError for all that is wrong with the settings. */
const allOf = async <A, B, C>(...parts: [Promise<A>, Promise<B>, Promise<C>]): Promise<[A, B, C]> => {
  const settled = await Promise.allSettled(parts)
  const failures = settled.flatMap((part): unknown[] => (part.status === "rejected" ? [part.reason] : []))
  const problems = failures.flatMap((failure) => (failure instanceof ConfigError ? failure.problems : []))
  if (problems.length > 0) throw new ConfigError(problems)
  return Promise.all(parts)
}

/**
 * Starts metrics and traces as the standard OTEL_* variables say; does nothing unless `telemetry` is on, nor where
 * OTEL_SDK_DISABLED is true. The SDK is loaded here and nowhere else: it costs 10 MB, and 20 more for the thread that exports to a
 * collector. Throws ConfigError.
 * @param config of the service; a proxy's sampled flag counts where it is trusted, as this machine's own does
 * @param runtime has everything OTEL_*, though the SDK reads some of its own from the process's environment
 */
export const startTelemetry = async (
  config: { readonly telemetry: boolean; readonly trustedProxies: readonly TrustedNetwork[] },
  { env, randomId }: Pick<Runtime, "env" | "randomId">,
  { service, version, prometheusPort, log }: TelemetryOptions,
): Promise<Telemetry | undefined> => {
  if (!config.telemetry || valueOf(env, "OTEL_SDK_DISABLED")?.toLowerCase() === "true") return undefined
  const onProblem = (reason: string): void =>
    log.warn({ reason: reason.slice(0, 300) }, "the telemetry could not be exported")
  const ignore = () => {}
  diag.setLogger({ error: onProblem, warn: onProblem, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN)
  const { createMeters } = await import("./meters.ts")
  const { createHeads, createIds } = await import("./heads.ts")
  const { TracerProvider } = await import("@opentelemetry/sdk-trace")
  const { AsyncLocalStorageContextManager } = await import("@opentelemetry/context-async-hooks")
  const { setGlobalErrorHandler, W3CTraceContextPropagator } = await import("@opentelemetry/core")
  // Without one it is the error's whole stack, as JSON.
  setGlobalErrorHandler((error) => onProblem(typeof error === "string" ? error : (error.message ?? "unknown")))
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } =
    await import("@opentelemetry/resources")
  const resource = defaultResource()
    .merge(
      resourceFromAttributes({
        "service.name": service,
        "service.version": version,
        "service.instance.id": randomId(),
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }))
  let collector: Promise<Collector> | undefined
  // The way to it costs 3 MB: opened where something is exported to one.
  const collectorOnce = () => (collector ??= import("./otlp.ts").then(({ openCollector }) => openCollector(env)))
  const [sampler, spanProcessors, readers] = await allOf(
    createSampler(env),
    createSpanProcessors(env, collectorOnce),
    createMetricReaders(env, prometheusPort, collectorOnce),
  )
  const meters = createMeters(resource, readers)
  const idGenerator = createIds()
  const tracers = new TracerProvider({ resource, sampler, spanProcessors, idGenerator })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  metrics.setGlobalMeterProvider(meters.provider)
  trace.setGlobalTracerProvider(tracers)
  switchOn()
  const stopObserving = observeProcess()
  // A collector that is away must not turn an orderly stop into a failed one.
  const quietly = (stopping: Promise<void>) => stopping.catch((error: unknown) => onProblem(String(error)))
  return {
    observe: observeRequests(
      config.trustedProxies,
      createHeads(sampler, idGenerator, tracers.getTracer("svc.http")),
      meters.histogram,
    ),
    stop: async () => {
      stopObserving()
      await Promise.all([quietly(tracers.shutdown()), quietly(meters.shutdown())])
      await (await collector)?.stop()
    },
  }
}
