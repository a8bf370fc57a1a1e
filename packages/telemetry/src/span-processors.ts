import type { SpanProcessor } from "@opentelemetry/sdk-trace"
import type { Collector } from "./otlp.ts"
import { type Env, namesOf } from "./variables.ts"

/** Where spans go, as OTEL_TRACES_EXPORTER says. Throws ConfigError. */
export const createSpanProcessors = async (env: Env, collector: () => Promise<Collector>): Promise<SpanProcessor[]> => {
  const { BatchSpanProcessor, ConsoleSpanExporter } = await import("@opentelemetry/sdk-trace")
  const processors: SpanProcessor[] = []
  for (const name of namesOf(env, "OTEL_TRACES_EXPORTER", "otlp", ["otlp", "console", "none"])) {
    if (name === "otlp") processors.push(new BatchSpanProcessor({ exporter: (await collector()).spanExporter() }))
    if (name === "console") processors.push(new BatchSpanProcessor({ exporter: new ConsoleSpanExporter() }))
  }
  return processors
}
