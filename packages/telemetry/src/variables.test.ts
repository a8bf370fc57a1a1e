import { readFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { metrics, trace } from "@opentelemetry/api"
import { freePort } from "@svc/testing"
import { afterEach, beforeEach, expect, test } from "vitest"
import { start, startCollector } from "../test/run.ts"
import { fields } from "./settings.ts"
import { clientSpan } from "./spans.ts"

type Collector = Awaited<ReturnType<typeof startCollector>>
type Running = Awaited<ReturnType<typeof start>>
/** Runs between start and stop, instead of one request. */
type During = (running: Running, collector: Collector) => unknown
/** Looks at what was exported and logged by the stop. */
type After = (collector: Collector, log: string) => unknown
type Row = {
  /** What the variable is set to. */
  readonly value: string
  readonly env?: Readonly<Record<string, string>>
  readonly during?: During
  readonly after?: After
}

const traceId = "0af7651916cd43dd8448eb211c80319c"
const other = { traceId, spanId: "b7ad6b7169203331", traceFlags: 1 }

/** A request with a call, and in it a span that has all to which limits apply. */
const requestWith = async ({ serve }: Running, headers: Readonly<Record<string, string>>): Promise<void> => {
  const two = { one: "abcdef", two: "abcdef" }
  const work = () =>
    clientSpan("call", two, async () => {
      const link = { context: other, attributes: two }
      const span = trace.getTracer("t").startSpan("full", { attributes: two, links: [link, link] })
      span.addEvent("event", two).addEvent("event").end()
    })
  await serve(work, headers)
  metrics.getMeter("m").createHistogram("sizes").record(3)
}
const request = (running: Running): Promise<void> => requestWith(running, {})
const full = (collector: Collector) => collector.spans().find(({ name }) => name === "full")
const noSpans: After = (collector) => expect(collector.spans()).toEqual([])
const hasAttributes =
  (wanted: Readonly<Record<string, string>>): After =>
  (collector) =>
    expect(full(collector)?.attributes).toEqual(wanted)
const postsOnlyTo =
  (path: string): After =>
  (collector) =>
    expect(collector.received.map(({ url }) => url)).toEqual([path])
const isProtobufAt =
  (path: string): After =>
  (collector) =>
    expect(posts(collector, path)?.headers["content-type"]).toBe("application/x-protobuf")
const logs =
  (text: string): After =>
  (_, log) =>
    expect(log).toContain(text)
const posts = (collector: Collector, path: string) => collector.at(path)[0]
const resume = (collector: Collector): void => collector.answer((_, response) => response.end("{}"))
/** Lets exports wait; gives what answers them. */
const hang = (collector: Collector): (() => void) => {
  const held: ServerResponse[] = []
  collector.answer((_, response) => void held.push(response))
  return () => {
    resume(collector)
    for (const response of held) response.end("{}")
  }
}
/** Waits until an export that isn't answered is given up, with this text in the log. */
const givesUp =
  (text: string): During =>
  async (running, collector) => {
    const release = hang(collector)
    await request(running)
    await expect.poll(() => running.log.join()).toContain(text)
    release()
  }
const port = String(await freePort())
const scrape = async (host = "127.0.0.1"): Promise<string> => (await fetch(`http://${host}:${port}/metrics`)).text()
const quick = { OTEL_BSP_SCHEDULE_DELAY: "1" }
const noTraces = { OTEL_TRACES_EXPORTER: "none" }
const noMetrics = { OTEL_METRICS_EXPORTER: "none" }

const rows: Readonly<Record<string, Row>> = {
  OTEL_SDK_DISABLED: { value: "TRUE", during: ({ telemetry }) => expect(telemetry).toBeUndefined() },
  OTEL_SERVICE_NAME: {
    value: "mine",
    env: { OTEL_RESOURCE_ATTRIBUTES: "service.name=other" },
    after: (collector) =>
      expect(collector.resource()).toMatchObject({ "service.name": "mine", "service.version": "1" }),
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    value: "deployment.environment.name=lab",
    after: (collector) =>
      expect(collector.resource()).toMatchObject({
        "deployment.environment.name": "lab",
        "service.name": "svc-things",
        "service.instance.id": "id",
      }),
  },
  OTEL_LOG_LEVEL: { value: "Debug", after: logs("items to be sent") },
  OTEL_PROPAGATORS: {
    value: "b3,baggage",
    during: (running) => requestWith(running, { b3: `${traceId}-b7ad6b7169203331-1` }),
    after: (collector) => expect(full(collector)?.traceId).toBe(traceId),
  },
  OTEL_TRACES_SAMPLER: { value: "always_OFF", after: noSpans },
  OTEL_TRACES_SAMPLER_ARG: { value: "0", env: { OTEL_TRACES_SAMPLER: "traceidratio" }, after: noSpans },
  OTEL_TRACES_EXPORTER: { value: "none", after: postsOnlyTo("/v1/metrics") },
  OTEL_METRICS_EXPORTER: { value: "none", after: postsOnlyTo("/v1/traces") },
  OTEL_BSP_SCHEDULE_DELAY: {
    value: "1",
    env: noMetrics,
    during: async (running, collector) => {
      await request(running)
      await collector.count(1)
      expect(posts(collector, "/v1/traces")).toBeDefined()
    },
  },
  OTEL_BSP_EXPORT_TIMEOUT: { value: "20", env: { ...quick, ...noMetrics }, during: givesUp("Timeout") },
  OTEL_BSP_MAX_QUEUE_SIZE: {
    value: "2",
    env: { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "2" },
    during: async ({ serve }) => {
      for (let i = 0; i < 9; i++) await serve(() => {})
    },
    // Two that are on their way when the others come, and two that wait.
    after: (collector) => expect(collector.spans()).toHaveLength(4),
  },
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: {
    value: "1",
    after: (collector) => expect(collector.at("/v1/traces")).toHaveLength(3),
  },
  OTEL_ATTRIBUTE_COUNT_LIMIT: { value: "1", after: hasAttributes({ one: "abcdef" }) },
  OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: {
    value: "1",
    env: { OTEL_ATTRIBUTE_COUNT_LIMIT: "100" },
    after: hasAttributes({ one: "abcdef" }),
  },
  OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: { value: "2", after: hasAttributes({ one: "ab", two: "ab" }) },
  OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: {
    value: "2",
    env: { OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: "100" },
    after: hasAttributes({ one: "ab", two: "ab" }),
  },
  OTEL_SPAN_EVENT_COUNT_LIMIT: { value: "1", after: (collector) => expect(full(collector)?.events).toHaveLength(1) },
  OTEL_SPAN_LINK_COUNT_LIMIT: { value: "1", after: (collector) => expect(full(collector)?.links).toHaveLength(1) },
  OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT: {
    value: "1",
    after: (collector) => expect(full(collector)?.events[0]?.attributes).toEqual({ one: "abcdef" }),
  },
  OTEL_LINK_ATTRIBUTE_COUNT_LIMIT: {
    value: "1",
    after: (collector) => expect(full(collector)?.links[0]?.attributes).toEqual({ one: "abcdef" }),
  },
  OTEL_METRIC_EXPORT_INTERVAL: {
    value: "10",
    env: noTraces,
    during: async (running, collector) => {
      await request(running)
      await collector.count(2)
      expect(collector.at("/v1/metrics").length).toBeGreaterThan(1)
    },
  },
  OTEL_METRIC_EXPORT_TIMEOUT: {
    value: "9",
    env: { ...noTraces, OTEL_METRIC_EXPORT_INTERVAL: "10" },
    during: givesUp("timed out after 9ms"),
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    value: "BASE/prefix",
    after: (collector) =>
      expect(new Set(collector.received.map(({ url }) => url))).toEqual(
        new Set(["/prefix/v1/metrics", "/prefix/v1/traces"]),
      ),
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    value: "http/protobuf",
    after: (collector, log) => {
      isProtobufAt("/v1/traces")(collector, log)
      expect(posts(collector, "/v1/traces")?.body.includes("svc-things")).toBe(true)
    },
  },
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: { value: "http/protobuf", after: isProtobufAt("/v1/traces") },
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: { value: "http/protobuf", after: isProtobufAt("/v1/metrics") },
  OTEL_EXPORTER_OTLP_HEADERS: {
    value: "x-tenant=things",
    after: (collector) => expect(posts(collector, "/v1/metrics")?.headers["x-tenant"]).toBe("things"),
  },
  OTEL_EXPORTER_OTLP_TIMEOUT: { value: "20", env: quick, during: givesUp("Request timed out") },
  OTEL_EXPORTER_OTLP_CERTIFICATE: { value: "/nowhere", after: logs("Failed to read root certificate file") },
  OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: {
    value: "delta",
    // Delta is 1, cumulative 2.
    after: (collector) => expect(collector.metrics()).toMatch(/"histogram":\{"aggregationTemporality":1/),
  },
  OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: {
    value: "base2_exponential_bucket_histogram",
    after: (collector) => expect(collector.metrics()).toContain('"exponentialHistogram"'),
  },
  OTEL_EXPORTER_PROMETHEUS_PORT: {
    value: port,
    env: { ...noTraces, OTEL_METRICS_EXPORTER: "prometheus" },
    during: async (running) => {
      await request(running)
      expect(await scrape("localhost")).toMatch(/^http_server_request_duration_count\{.*http_route="\/things"/m)
    },
  },
  OTEL_EXPORTER_PROMETHEUS_HOST: {
    value: "127.0.0.2",
    env: { ...noTraces, OTEL_METRICS_EXPORTER: "prometheus", OTEL_EXPORTER_PROMETHEUS_PORT: port },
    during: async () => expect(await scrape("127.0.0.2")).toContain("process_memory_usage"),
  },
}

let collector: Collector
beforeEach(async () => {
  collector = await startCollector()
})
afterEach(() => collector.close())

test.each(Object.entries(rows))("%s is honoured", async (name, { value, env = {}, during, after }) => {
  expect.hasAssertions()
  const running = await start({ ...collector.env, ...env, [name]: value.replace("BASE", collector.url) })
  await (during ?? request)(running, collector)
  resume(collector)
  await running.stop()
  await after?.(collector, running.log.join())
})

test("every variable that is read has a row, and one in the reference with its default", () => {
  const read = Object.values(fields(0)).flatMap((field) => ("variable" in field ? [field] : Object.values(field)))
  const page = readFileSync(new URL("../../../apps/docs-server/content/configuration.md", import.meta.url), "utf8")
  for (const { variable, fallback } of read) {
    if (variable !== "OTEL_CONFIG_FILE") expect(Object.keys(rows)).toContain(variable)
    const told = page
      .split("\n")
      .find((line) => line.startsWith(`| \`${variable}\``))
      ?.split("|")[2]
    if (["OTEL_CONFIG_FILE", "OTEL_EXPORTER_PROMETHEUS_PORT"].includes(variable)) continue
    expect([variable, told?.trim()]).toEqual([variable, fallback === undefined ? "unset" : `\`${String(fallback)}\``])
  }
  for (const variable of Object.keys(rows)) expect(page).toContain(`\`${variable}\``)
})

const problemsOf = (env: Readonly<Record<string, string>>) =>
  start(env).then(
    () => [],
    (error: unknown) => (error as { problems: string[] }).problems,
  )

test("all invalid values are reported at once, and so is everything unsupported", async () => {
  const wrong = {
    OTEL_TRACES_SAMPLER_ARG: "2",
    OTEL_TRACES_EXPORTER: "otlp,zipkin",
    OTEL_METRIC_EXPORT_INTERVAL: "soon",
    OTEL_EXPORTER_OTLP_ENDPOINT: "collector.example.com:4318",
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://collector.example.com:port",
  }
  const named = (await problemsOf(wrong)).map((problem) => problem.split(":")[0])
  expect(new Set(named)).toEqual(new Set(Object.keys(wrong)))
  const grpc = { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }
  expect(await problemsOf(grpc)).toEqual([expect.stringMatching("gRPC is not supported")])
  expect(await problemsOf({ ...grpc, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json", ...noMetrics })).toEqual([])
  expect(await problemsOf({ OTEL_CONFIG_FILE: "sdk.yaml" })).toEqual([expect.stringMatching(/^OTEL_CONFIG_FILE: /)])
})

test("a collector that is briefly full is retried", async () => {
  const running = await start({ ...collector.env, ...noMetrics })
  collector.answer((_, response) => {
    resume(collector)
    response.writeHead(503, { "retry-after": "1" }).end()
  })
  await request(running)
  await running.stop()
  expect(collector.spans()).toHaveLength(6)
  expect(running.log).toEqual([])
})

test.each(["http/json", "http/protobuf"])("no response of a collector in %s ends the process", async (protocol) => {
  const running = await start({ ...collector.env, ...noMetrics, OTEL_EXPORTER_OTLP_PROTOCOL: protocol })
  collector.answer((_, response) => response.end("\n\u00ff<html>"))
  await request(running)
  await running.stop()
  expect(running.log.join()).toMatch(/could not deserialize response|Failed to parse/)
})

test("a rejected export is logged in one line, and a stop doesn't wait for a silent collector", async () => {
  const patient = { OTEL_EXPORTER_OTLP_TIMEOUT: "60000", OTEL_BSP_EXPORT_TIMEOUT: "60000" }
  const running = await start({ ...collector.env, ...noMetrics, ...patient, ...quick })
  collector.answer((_, response) => response.writeHead(401).end("who are you?"))
  await request(running)
  await expect.poll(() => running.log).toEqual(['{"reason":"Unauthorized"}'])
  hang(collector)
  await request(running)
  await running.stop()
  expect(running.log.at(-1)).toContain("no response from the collector")
})
