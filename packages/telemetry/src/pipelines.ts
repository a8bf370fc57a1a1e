import type { TextMapPropagator } from "@opentelemetry/api"
import { CompositePropagator, W3CTraceContextPropagator } from "@opentelemetry/core"
import * as sdk from "@opentelemetry/sdk-metrics"
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  type SpanExporter,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace"
import { SetupError } from "@svc/config"
import type { Settings } from "./settings.ts"

// Each exporter takes megabytes of memory, so only those in use are loaded.
const otlpSpanExporter = async ({ protocol, traceProtocol = protocol }: Settings): Promise<SpanExporter> => {
  const { OTLPTraceExporter } =
    traceProtocol === "http/json"
      ? await import("@opentelemetry/exporter-trace-otlp-http")
      : await import("@opentelemetry/exporter-trace-otlp-proto")
  return new OTLPTraceExporter()
}

const otlpMetricExporter = async (settings: Settings): Promise<sdk.PushMetricExporter> => {
  const { protocol, metricProtocol = protocol, histograms } = settings
  const { OTLPMetricExporter } =
    metricProtocol === "http/json"
      ? await import("@opentelemetry/exporter-metrics-otlp-http")
      : await import("@opentelemetry/exporter-metrics-otlp-proto")
  const exponential = histograms === "base2_exponential_bucket_histogram"
  return new OTLPMetricExporter({
    aggregationPreference: (type) => ({
      type:
        exponential && type === sdk.InstrumentType.HISTOGRAM
          ? sdk.AggregationType.EXPONENTIAL_HISTOGRAM
          : sdk.AggregationType.DEFAULT,
    }),
  })
}

/** Makes the exporters of spans, by OTEL_TRACES_EXPORTER. */
export const createSpanProcessors = (settings: Settings): Promise<SpanProcessor[]> => {
  const exporters = { otlp: () => otlpSpanExporter(settings), console: () => new ConsoleSpanExporter() }
  return Promise.all(
    settings.traceExporters
      .filter((name) => name !== "none")
      .map(async (name) => new BatchSpanProcessor({ ...settings.batch, exporter: await exporters[name]() })),
  )
}

const prometheusPage = async ({ prometheusHost: host, prometheusPort: port }: Settings): Promise<sdk.IMetricReader> => {
  const { PrometheusExporter } = await import("@opentelemetry/exporter-prometheus")
  const exporter = new PrometheusExporter({ host, port, preventServerStart: true })
  await exporter.startServer().catch((error: Error & { code?: string }) => {
    const [setting, next] = ["EADDRINUSE", "EACCES"].includes(error.code ?? "")
      ? ["PORT", "Set another port for the page of metrics, or stop what `ss -ltnp` shows there."]
      : ["HOST", "Set it to an address of this machine."]
    throw new SetupError(error.message, `OTEL_EXPORTER_PROMETHEUS_${setting}`, next, error)
  })
  return exporter
}

/** Makes the exporters of metrics, by OTEL_METRICS_EXPORTER. Rejects if the Prometheus page can't listen. */
export const createMetricReaders = (settings: Settings): Promise<sdk.IMetricReader[]> => {
  const { exportInterval, exportTimeout } = settings
  const periodic = (exporter: sdk.PushMetricExporter): sdk.IMetricReader =>
    new sdk.PeriodicExportingMetricReader({
      exporter,
      exportIntervalMillis: exportInterval,
      exportTimeoutMillis: Math.min(exportTimeout, exportInterval),
    })
  const readers = {
    otlp: async () => periodic(await otlpMetricExporter(settings)),
    prometheus: () => prometheusPage(settings),
    console: () => periodic(new sdk.ConsoleMetricExporter()),
  }
  return Promise.all(settings.metricExporters.filter((name) => name !== "none").map(async (name) => readers[name]()))
}

/** Makes the propagators, by OTEL_PROPAGATORS. Baggage is accepted but ignored, because nothing reads or forwards it. */
export const createPropagator = async ({ propagators }: Settings): Promise<TextMapPropagator> => {
  const chosen: TextMapPropagator[] = []
  const names: readonly string[] = propagators.includes("none") ? [] : propagators
  if (names.includes("tracecontext")) chosen.push(new W3CTraceContextPropagator())
  // It reads both B3 formats.
  if (names.some((name) => name.startsWith("b3"))) {
    const { B3Propagator } = await import("@opentelemetry/propagator-b3")
    chosen.push(new B3Propagator())
  }
  return new CompositePropagator({ propagators: chosen })
}
