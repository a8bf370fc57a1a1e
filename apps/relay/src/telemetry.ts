import { diag, DiagLogLevel, metrics } from "@opentelemetry/api"
import { ConfigError } from "@svc/config"
import type { PushMetricExporter } from "@opentelemetry/sdk-metrics"

type Env = Readonly<Record<string, string | undefined>>

const value = (env: Env, name: string): string | undefined => {
  const text = env[name]?.trim()
  return text === "" ? undefined : text
}

const milliseconds = (env: Env, name: string, fallback: number): number => {
  const text = value(env, name)
  if (text === undefined) return fallback
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new ConfigError([`${name}: must be whole milliseconds, above 0`])
  return Number(text)
}

const otlpExporter = async (env: Env): Promise<PushMetricExporter> => {
  const name = "OTEL_EXPORTER_OTLP_PROTOCOL"
  const protocol = value(env, "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL") ?? value(env, name) ?? "http/protobuf"
  if (protocol === "http/protobuf") {
    return new (await import("@opentelemetry/exporter-metrics-otlp-proto")).OTLPMetricExporter()
  }
  if (protocol === "http/json") {
    return new (await import("@opentelemetry/exporter-metrics-otlp-http")).OTLPMetricExporter()
  }
  throw new ConfigError([`${name}: must be http/protobuf or http/json`])
}

const prometheusExporter = async (env: Env) => {
  const { PrometheusExporter } = await import("@opentelemetry/exporter-prometheus")
  const host = value(env, "OTEL_EXPORTER_PROMETHEUS_HOST") ?? "localhost"
  const port = Number(value(env, "OTEL_EXPORTER_PROMETHEUS_PORT") ?? 9464)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ConfigError(["OTEL_EXPORTER_PROMETHEUS_PORT: must be a port"])
  }
  const exporter = new PrometheusExporter({ host, port, preventServerStart: true })
  await exporter.startServer()
  return exporter
}

/**
 * Starts the export of metrics as the standard OTEL_* variables say; the OTLP exporters read their own (endpoint,
 * headers, timeout) from the process's environment. The SDK is loaded here and nowhere else: it costs 30 MB of memory.
 * @param onProblem told in words what goes wrong while exporting
 */
export const startTelemetry = async (
  env: Env,
  version: string,
  onProblem: (reason: string) => void,
): Promise<{ readonly stop: () => Promise<void> }> => {
  const ignore = () => {}
  diag.setLogger({ error: onProblem, warn: onProblem, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN)
  const { MeterProvider, PeriodicExportingMetricReader, ConsoleMetricExporter } =
    await import("@opentelemetry/sdk-metrics")
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } =
    await import("@opentelemetry/resources")
  const periodic = (exporter: PushMetricExporter) => {
    const exportIntervalMillis = milliseconds(env, "OTEL_METRIC_EXPORT_INTERVAL", 60_000)
    const timeout = milliseconds(env, "OTEL_METRIC_EXPORT_TIMEOUT", 30_000)
    const exportTimeoutMillis = Math.min(timeout, exportIntervalMillis)
    return new PeriodicExportingMetricReader({ exporter, exportIntervalMillis, exportTimeoutMillis })
  }
  const reader = async (name: string) => {
    switch (name) {
      case "otlp":
        return [periodic(await otlpExporter(env))]
      case "prometheus":
        return [await prometheusExporter(env)]
      case "console":
        return [periodic(new ConsoleMetricExporter())]
      case "none":
        return []
      default:
        throw new ConfigError([
          `OTEL_METRICS_EXPORTER: ${JSON.stringify(name)} is none of otlp, prometheus, console, none`,
        ])
    }
  }
  const names = (value(env, "OTEL_METRICS_EXPORTER") ?? "otlp").split(",").map((name) => name.trim())
  const readers = (await Promise.all(names.map(reader))).flat()
  const own = resourceFromAttributes({ "service.name": "svc-relay", "service.version": version })
  const resource = defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }))
  const provider = new MeterProvider({ resource, readers })
  metrics.setGlobalMeterProvider(provider)
  // A collector that is away must not turn an orderly stop into a failed one.
  const stop = () => provider.shutdown({ timeoutMillis: 5000 }).catch((error: unknown) => onProblem(String(error)))
  return { stop }
}
