import type { SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace"
import { type Env, namesOf, protocolOf } from "./variables.ts"

const otlpExporter = async (env: Env): Promise<SpanExporter> =>
  protocolOf(env, "TRACES") === "http/json"
    ? new (await import("@opentelemetry/exporter-trace-otlp-http")).OTLPTraceExporter()
    : new (await import("@opentelemetry/exporter-trace-otlp-proto")).OTLPTraceExporter()

/** Where spans go, as OTEL_TRACES_EXPORTER says. Throws ConfigError. */
export const createSpanProcessors = async (env: Env): Promise<SpanProcessor[]> => {
  const { BatchSpanProcessor, ConsoleSpanExporter } = await import("@opentelemetry/sdk-trace")
  const processors: SpanProcessor[] = []
  for (const name of namesOf(env, "OTEL_TRACES_EXPORTER", "otlp", ["otlp", "console", "none"])) {
    if (name === "otlp") processors.push(new BatchSpanProcessor({ exporter: await otlpExporter(env) }))
    if (name === "console") processors.push(new BatchSpanProcessor({ exporter: new ConsoleSpanExporter() }))
  }
  return processors
}
