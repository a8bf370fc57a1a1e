import { field, flag, integer, loadConfig, text, url } from "@svc/config"
import { z } from "zod"

/** A word in any case, as the specification requires. */
const word = <const Word extends string, Fallback extends Word | undefined>(
  variable: string,
  fallback: Fallback,
  choices: readonly Word[],
) => {
  const choice = z.enum(choices, `must be one of ${choices.join(", ")}`)
  return field<Word | Fallback>(variable, z.string().toLowerCase().pipe(choice), fallback)
}

/** Words separated by commas. */
const words = <const Word extends string>(variable: string, fallback: readonly Word[], choices: readonly Word[]) => {
  const given = z.string().transform((value) =>
    value
      .toLowerCase()
      .split(",")
      .map((one) => one.trim()),
  )
  const choice = z.enum(choices, `must be one of ${choices.join(", ")}, or several separated by commas`)
  return field<readonly Word[]>(variable, given.pipe(z.array(choice)), fallback)
}

const share = (variable: string, fallback: number) => {
  const number = z.number("must be a number from 0 to 1").min(0, "must be at least 0").max(1, "must be at most 1")
  return field(variable, z.string().transform(Number).pipe(number), fallback)
}

const count = (variable: string) => integer(variable, undefined, { min: 0 })

type Env = Readonly<Record<string, string | undefined>>

const isPulled = (env: Env): boolean =>
  /^\s*prometheus\s*$/i.test(env["OTEL_METRICS_EXPORTER"] ?? "") &&
  !env["OTEL_EXPORTER_OTLP_ENDPOINT"] &&
  !env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const
const protocols = ["http/protobuf", "http/json", "grpc"] as const
const endpoint = (signal: string) =>
  url(`OTEL_EXPORTER_OTLP_${signal}ENDPOINT`, undefined, { exact: true, credentials: true })
/** Only checked: the SDK's exporters read them. */
const endpoints = { all: endpoint(""), traces: endpoint("TRACES_"), metrics: endpoint("METRICS_") }
const milliseconds = { min: 1, max: 2 ** 31 - 1 }

/** @param prometheusPort the default port of the Prometheus page */
export const fields = (prometheusPort: number, env: Env = {}) => ({
  disabled: flag("OTEL_SDK_DISABLED", false),
  configFile: text("OTEL_CONFIG_FILE", undefined),
  logLevel: word("OTEL_LOG_LEVEL", "warn", ["none", "error", "warn", "info", "debug", "verbose", "all"]),
  propagators: words("OTEL_PROPAGATORS", ["tracecontext"], ["tracecontext", "baggage", "b3", "b3multi", "none"]),
  sampler: word("OTEL_TRACES_SAMPLER", "parentbased_traceidratio", samplers),
  ratio: share("OTEL_TRACES_SAMPLER_ARG", 0.01),
  // None by default if metrics are pulled and no setting names a collector.
  traceExporters: words("OTEL_TRACES_EXPORTER", isPulled(env) ? ["none"] : ["otlp"], ["otlp", "console", "none"]),
  metricExporters: words("OTEL_METRICS_EXPORTER", ["otlp"], ["otlp", "prometheus", "console", "none"]),
  protocol: word("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", protocols),
  traceProtocol: word("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", undefined, protocols),
  metricProtocol: word("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", undefined, protocols),
  histograms: word("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "explicit_bucket_histogram", [
    "explicit_bucket_histogram",
    "base2_exponential_bucket_histogram",
  ]),
  batch: {
    scheduledDelayMillis: integer("OTEL_BSP_SCHEDULE_DELAY", 5000, { ...milliseconds, min: 0 }),
    exportTimeoutMillis: integer("OTEL_BSP_EXPORT_TIMEOUT", 30_000, milliseconds),
    maxQueueSize: integer("OTEL_BSP_MAX_QUEUE_SIZE", 2048, { min: 1 }),
    maxExportBatchSize: integer("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512, { min: 1 }),
  },
  attributeCount: integer("OTEL_ATTRIBUTE_COUNT_LIMIT", 128, { min: 0 }),
  attributeLength: count("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"),
  spanLimits: {
    attributeCountLimit: count("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"),
    attributeValueLengthLimit: count("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT"),
    eventCountLimit: integer("OTEL_SPAN_EVENT_COUNT_LIMIT", 128, { min: 0 }),
    linkCountLimit: integer("OTEL_SPAN_LINK_COUNT_LIMIT", 128, { min: 0 }),
    attributePerEventCountLimit: integer("OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", 128, { min: 0 }),
    attributePerLinkCountLimit: integer("OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", 128, { min: 0 }),
  },
  exportInterval: integer("OTEL_METRIC_EXPORT_INTERVAL", 60_000, milliseconds),
  exportTimeout: integer("OTEL_METRIC_EXPORT_TIMEOUT", 30_000, milliseconds),
  prometheusHost: text("OTEL_EXPORTER_PROMETHEUS_HOST", "localhost"),
  prometheusPort: integer("OTEL_EXPORTER_PROMETHEUS_PORT", prometheusPort, { min: 1, max: 65_535 }),
})

/**
 * Reads the standard OTEL_* variables, except those that the SDK's exporters and resource detectors read. Throws one
 * ConfigError with all problems.
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export const readSettings = (env: Env, prometheusPort: number) =>
  loadConfig({ ...fields(prometheusPort, env), endpoints }, env, (settings) => {
    const { configFile, disabled, protocol } = settings
    const byGrpc = (signal: string, own: typeof protocol | undefined, exporters: readonly string[]) =>
      (own ?? protocol) === "grpc" &&
      exporters.includes("otlp") &&
      `OTEL_EXPORTER_OTLP_${own === undefined ? "" : signal}PROTOCOL: gRPC is not supported; use http/protobuf or http/json`
    return [
      configFile !== undefined &&
        !disabled &&
        "OTEL_CONFIG_FILE: is not supported; unset it and set the OTEL_* variables",
      byGrpc("METRICS_", settings.metricProtocol, settings.metricExporters),
      byGrpc("TRACES_", settings.traceProtocol, settings.traceExporters),
    ]
  })

/** Throws ConfigError if telemetry is on and can't start with these variables. */
export const validateTelemetry = (config: { readonly telemetry: boolean }, env: Env): void => {
  if (config.telemetry) readSettings(env, 1)
}

export type Settings = ReturnType<typeof readSettings>
