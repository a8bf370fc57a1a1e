import { setTimeout as delay } from "node:timers/promises"
import { context, diag, DiagLogLevel, metrics, propagation, trace } from "@opentelemetry/api"
import type { Runtime } from "@svc/program"
import { observeProcess } from "./process-metrics.ts"
import { observeRequests } from "./requests.ts"
import { readSettings } from "./settings.ts"
import { switchOn } from "./spans.ts"

type TelemetryOptions = {
  /** The default of OTEL_SERVICE_NAME. */
  readonly service: string
  readonly version: string
  /** The default of OTEL_EXPORTER_PROMETHEUS_PORT. */
  readonly prometheusPort: number
  /** Receives the SDK's messages: errors and warnings of exporters, and more with OTEL_LOG_LEVEL. */
  readonly log: Readonly<Record<"info" | "warn", (details: object, message: string) => void>>
}

const stopMs = 5000

/** A message of the SDK as one line, without its objects. */
const reasonOf = (given: readonly unknown[]): string =>
  given
    .flatMap((one) => (typeof one === "string" ? [one] : one instanceof Error ? [one.message] : []))
    .join(" ")
    .slice(0, 300)

/**
 * Starts metrics and traces by the standard OTEL_* variables, if `telemetry` is on and OTEL_SDK_DISABLED isn't true. Only this
 * function loads the SDK. Throws ConfigError.
 * @param config the service's settings
 * @param runtime has the OTEL_* variables. Exporters and resource detectors of the SDK read theirs from the process
 * @example
 * ```ts
 * const telemetry = await startTelemetry(config, runtime, { service: "svc-relay", version, prometheusPort: 9470, log })
 * await telemetry?.stop()
 * ```
 */
export const startTelemetry = async (
  config: { readonly telemetry: boolean },
  { env, randomId }: Pick<Runtime, "env" | "randomId">,
  { service, version, prometheusPort, log }: TelemetryOptions,
) => {
  if (!config.telemetry) return undefined
  const settings = readSettings(env, prometheusPort)
  if (settings.disabled) return undefined
  const { createMetricReaders, createPropagator, createSpanProcessors } = await import("./pipelines.ts")
  const { createSampler } = await import("./sampler.ts")
  const { AsyncLocalStorageContextManager } = await import("@opentelemetry/context-async-hooks")
  const { setGlobalErrorHandler } = await import("@opentelemetry/core")
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } =
    await import("@opentelemetry/resources")
  const { MeterProvider } = await import("@opentelemetry/sdk-metrics")
  const { TracerProvider } = await import("@opentelemetry/sdk-trace")

  const warn = (...given: unknown[]): void =>
    log.warn({ reason: reasonOf(given) }, "the telemetry could not be exported")
  const info = (...given: unknown[]): void => log.info({ reason: reasonOf(given) }, "telemetry")
  const logLevel = DiagLogLevel[settings.logLevel.toUpperCase() as keyof typeof DiagLogLevel]
  diag.setLogger({ error: warn, warn, info, debug: info, verbose: info }, { logLevel, suppressOverrideMessage: true })
  // The SDK's own handler prints the error's stack as JSON.
  setGlobalErrorHandler((error) => diag.error(typeof error === "string" ? error : (error.message ?? "unknown")))

  const own = { "service.name": service, "service.version": version, "service.instance.id": randomId() }
  const resource = defaultResource()
    .merge(resourceFromAttributes(own))
    .merge(detectResources({ detectors: [envDetector] }))
  const meters = new MeterProvider({ resource, readers: await createMetricReaders(settings) })
  const { attributeCount, attributeLength = Infinity, spanLimits } = settings
  const { attributeCountLimit = attributeCount, attributeValueLengthLimit = attributeLength } = spanLimits
  const tracers = new TracerProvider({
    resource,
    sampler: createSampler(settings),
    spanProcessors: await createSpanProcessors(settings),
    spanLimits: { ...spanLimits, attributeCountLimit, attributeValueLengthLimit },
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(await createPropagator(settings))
  metrics.setGlobalMeterProvider(meters)
  trace.setGlobalTracerProvider(tracers)
  switchOn()
  const stopObserving = observeProcess()
  // An unavailable collector must not make an orderly stop fail.
  const quietly = (stopping: Promise<void>) => stopping.catch((error: unknown) => warn(error))
  return {
    /** For `serve`. */
    observe: observeRequests(),
    /** Exports the remaining data, within 5 seconds. */
    stop: async (): Promise<void> => {
      stopObserving()
      const late = new AbortController()
      const stopped = Promise.all([quietly(tracers.shutdown()), quietly(meters.shutdown())])
      const timeout = delay(stopMs, undefined, { signal: late.signal }).then(
        () => warn("no response from the collector within 5 s of the stop"),
        () => {},
      )
      await Promise.race([stopped, timeout])
      late.abort()
    },
  }
}
