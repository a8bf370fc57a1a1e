import { Worker } from "node:worker_threads"
import { diag } from "@opentelemetry/api"
import { ExportResultCode } from "@opentelemetry/core"
import { OTLPMetricExporterBase } from "@opentelemetry/exporter-metrics-otlp-http"
import type { IOtlpExportDelegate } from "@opentelemetry/otlp-exporter-base"
import {
  type ISerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from "@opentelemetry/otlp-transformer"
import type { PushMetricExporter } from "@opentelemetry/sdk-metrics"
import type { SpanExporter } from "@opentelemetry/sdk-trace"
import { type Env, protocolOf } from "./variables.ts"

type Signal = "METRICS" | "TRACES"

/** What the thread is given to send. */
export type Batch = {
  readonly id: number
  readonly signal: Signal
  readonly mediaType: string
  readonly bytes: Uint8Array
}

/** What the thread tells: how a batch ended, what a collector answered that took it, what is wrong. */
export type Report =
  | { readonly id: number; readonly failure: string | undefined }
  | { readonly signal: Signal; readonly answer: Uint8Array }
  | { readonly warning: string }

type Serializer<Items> = ISerializer<Items, { readonly partialSuccess?: object | null } | null>

const mediaTypes = { "http/protobuf": "application/x-protobuf", "http/json": "application/json" }
const metricSerializers = { "http/protobuf": ProtobufMetricsSerializer, "http/json": JsonMetricsSerializer }
const traceSerializers = { "http/protobuf": ProtobufTraceSerializer, "http/json": JsonTraceSerializer }

/** A collector that took a part of a batch says so in its answer. */
const readAnswer = (serializer: Serializer<never>, answer: Uint8Array): void => {
  try {
    const partialSuccess = serializer.deserializeResponse(answer)?.partialSuccess ?? {}
    if (Object.keys(partialSuccess).length > 0) diag.warn(`a part was refused: ${JSON.stringify(partialSuccess)}`)
  } catch {
    diag.warn("it was taken with an answer that is none of OTLP")
  }
}

const threadEnded = "the thread that exports has ended"

/**
 * Opens the way to a collector: OTLP over HTTP as the OTEL_EXPORTER_OTLP_* variables of `env` say, from a thread of its own.
 * A client's sockets and streams share their code with those of the server; where there were none, each answer takes up to
 * a sixth longer from the first export on (docs/decisions/telemetry.md).
 */
export const openCollector = (env: Env) => {
  const waiting = new Map<number, (failure: string | undefined) => void>()
  const flushes: (() => void)[] = []
  const serializers = new Map<Signal, Serializer<never>>()
  let batches = 0
  let thread: Worker | undefined

  const settle = (id: number, failure: string | undefined): void => {
    const done = waiting.get(id)
    waiting.delete(id)
    done?.(failure)
    if (waiting.size > 0) return
    thread?.unref()
    for (const flushed of flushes.splice(0)) flushed()
  }
  const hear = (report: Report): void => {
    if ("warning" in report) return diag.warn(report.warning)
    if ("id" in report) return settle(report.id, report.failure)
    const serializer = serializers.get(report.signal)
    if (serializer !== undefined) readAnswer(serializer, report.answer)
  }
  const start = (): Worker => {
    const own = Object.entries(env).flatMap(([name, value]) =>
      name.startsWith("OTEL_") && value !== undefined ? [[name, value] as const] : [],
    )
    const started = new Worker(new URL("otlp-thread.js", import.meta.url), {
      env: Object.fromEntries(own),
      execArgv: [],
    })
    started.unref()
    started.on("message", hear)
    started.on("error", (error) => diag.error(String(error)))
    started.on("exit", () => {
      thread = undefined
      for (const id of Array.from(waiting.keys())) settle(id, threadEnded)
    })
    return started
  }

  const send = (batch: Omit<Batch, "id">, done: (failure: string | undefined) => void): void => {
    const id = batches++
    waiting.set(id, done)
    thread ??= start()
    // A process that has nothing else to do waits for what is under way, as it would for a request of its own.
    thread.ref()
    thread.postMessage({ ...batch, id } satisfies Batch)
  }
  const flush = (): Promise<void> =>
    waiting.size === 0 ? Promise.resolve() : new Promise((resolve) => void flushes.push(resolve))

  const createDelegate = <Items>(
    signal: Signal,
    byProtocol: Readonly<Record<keyof typeof mediaTypes, Serializer<Items>>>,
  ): IOtlpExportDelegate<Items> => {
    const protocol = protocolOf(env, signal)
    const serializer = byProtocol[protocol]
    serializers.set(signal, serializer)
    return {
      export: (items, done) => {
        const bytes = serializer.serializeRequest(items)
        if (bytes === undefined) return done({ code: ExportResultCode.FAILED, error: new Error("nothing to send") })
        send({ signal, mediaType: mediaTypes[protocol], bytes }, (failure) =>
          done(
            failure === undefined
              ? { code: ExportResultCode.SUCCESS }
              : { code: ExportResultCode.FAILED, error: new Error(failure) },
          ),
        )
      },
      forceFlush: flush,
      shutdown: flush,
      setMetrics: () => {},
    }
  }

  return {
    /** Throws ConfigError. */
    metricExporter: (): PushMetricExporter => new OTLPMetricExporterBase(createDelegate("METRICS", metricSerializers)),
    /** Throws ConfigError. */
    spanExporter: (): SpanExporter => createDelegate("TRACES", traceSerializers),
    /** Ends the thread; what it has not sent by then has failed. */
    stop: async (): Promise<void> => {
      await thread?.terminate()
    },
  }
}

export type Collector = ReturnType<typeof openCollector>
