import type { IMetricReader, PushMetricExporter } from "@opentelemetry/sdk-metrics"
import { ConfigError } from "@svc/config"
import type { Collector } from "./otlp.ts"
import { type Env, millisecondsOf, namesOf, valueOf } from "./variables.ts"

const prometheusPage = async (env: Env, fallbackPort: number): Promise<IMetricReader> => {
  const { PrometheusExporter } = await import("@opentelemetry/exporter-prometheus")
  const host = valueOf(env, "OTEL_EXPORTER_PROMETHEUS_HOST") ?? "localhost"
  const port = Number(valueOf(env, "OTEL_EXPORTER_PROMETHEUS_PORT") ?? fallbackPort)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ConfigError(["OTEL_EXPORTER_PROMETHEUS_PORT: must be a port"])
  }
  const exporter = new PrometheusExporter({ host, port, preventServerStart: true })
  await exporter.startServer()
  return exporter
}

/** What reads the metrics, as OTEL_METRICS_EXPORTER and its kin say. Throws ConfigError. */
export const createMetricReaders = async (
  env: Env,
  prometheusPort: number,
  collector: () => Promise<Collector>,
): Promise<IMetricReader[]> => {
  const { ConsoleMetricExporter, PeriodicExportingMetricReader } = await import("@opentelemetry/sdk-metrics")
  const periodic = (exporter: PushMetricExporter) => {
    const exportIntervalMillis = millisecondsOf(env, "OTEL_METRIC_EXPORT_INTERVAL", 60_000)
    const timeout = millisecondsOf(env, "OTEL_METRIC_EXPORT_TIMEOUT", 30_000)
    const exportTimeoutMillis = Math.min(timeout, exportIntervalMillis)
    return new PeriodicExportingMetricReader({ exporter, exportIntervalMillis, exportTimeoutMillis })
  }
  const known = ["otlp", "prometheus", "console", "none"] as const
  const readers: IMetricReader[] = []
  for (const name of namesOf(env, "OTEL_METRICS_EXPORTER", "otlp", known)) {
    if (name === "otlp") readers.push(periodic((await collector()).metricExporter()))
    if (name === "prometheus") readers.push(await prometheusPage(env, prometheusPort))
    if (name === "console") readers.push(periodic(new ConsoleMetricExporter()))
  }
  return readers
}
