import { EventEmitter } from "node:events"
import { context, diag, metrics, propagation, trace } from "@opentelemetry/api"
import type { Exchange } from "@svc/http"
import { startReceiver } from "@svc/testing"
import { vi } from "vitest"
import { z } from "zod"
import { startTelemetry } from "../src/start.ts"

type Env = Readonly<Record<string, string>>

const attributes = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) }))
  .transform((all) => Object.fromEntries(all.map(({ key, value }) => [key, Object.values(value)[0]])))
const span = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  attributes,
  status: z.object({ code: z.int() }),
  events: z.array(z.looseObject({ name: z.string(), attributes })),
  links: z.array(z.looseObject({ traceId: z.string(), attributes })),
})
const traces = z.object({
  resourceSpans: z.array(
    z.object({ resource: z.object({ attributes }), scopeSpans: z.array(z.object({ spans: z.array(span) })) }),
  ),
})

/** A collector that speaks OTLP as JSON, and the variables by which telemetry exports to it, every trace and at once. */
export const startCollector = async () => {
  const receiver = await startReceiver()
  const at = (path: string) => receiver.received.filter(({ url }) => url === path)
  const batches = () => at("/v1/traces").flatMap(({ body }) => traces.parse(JSON.parse(String(body))).resourceSpans)
  return {
    ...receiver,
    at,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_TRACES_SAMPLER: "parentbased_always_on",
    },
    spans: () => batches().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    resource: () => batches()[0]?.resource.attributes,
    metrics: () =>
      at("/v1/metrics")
        .map(({ body }) => String(body))
        .join(),
  }
}

const forget = (): void => {
  for (const api of [context, diag, metrics, propagation, trace]) api.disable()
  vi.unstubAllEnvs()
}

/** Starts telemetry as variables of the process say; `stop` exports the rest and forgets the SDK. */
export const start = async (env: Env) => {
  forget()
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const log: string[] = []
  const tell = (details: object): void => void log.push(JSON.stringify(details))
  const telemetry = await startTelemetry(
    { telemetry: true },
    { env, randomId: () => "id" },
    { service: "svc-things", version: "1", prometheusPort: 9470, log: { info: tell, warn: tell } },
  )
  /** Serves a request from an address; gives what `work` finds in the midst of it. */
  const serve = async <T>(
    work: (exchange: Exchange) => T | Promise<T>,
    headers: Env = {},
    remoteAddress = "127.0.0.1",
    status = 200,
  ): Promise<T> => {
    const exchange = {
      incoming: { method: "GET", headers, socket: { remoteAddress } },
      outgoing: Object.assign(new EventEmitter(), { statusCode: status }),
      server: { clientAddress: { trustsTraces: (peer: string) => /^(?:10|127)\./.test(peer) } },
      route: "/things",
    } as unknown as Exchange
    const found = Promise.withResolvers<T>()
    telemetry?.observe(exchange, (served) => found.resolve(work(served)))
    const value = await found.promise
    exchange.outgoing.emit("close")
    return value
  }
  const stop = async (): Promise<void> => {
    await telemetry?.stop()
    forget()
  }
  return { telemetry, log, serve, stop }
}
