import { gunzipSync } from "node:zlib"
import { diag, DiagLogLevel } from "@opentelemetry/api"
import { type ExportResult, ExportResultCode } from "@opentelemetry/core"
import { resourceFromAttributes } from "@opentelemetry/resources"
import { startReceiver } from "@svc/testing"
import { afterAll, afterEach, beforeEach, expect, test } from "vitest"
import { type Collector, openCollector } from "./otlp.ts"

const receiver = await startReceiver()
afterAll(receiver.close)

/** Answers so in turns, and then as a collector that takes all. */
const answerBy = (...answers: { readonly status: number; readonly body: string }[]): void =>
  receiver.answer((_, response) => {
    const { status, body } = answers.shift() ?? { status: 200, body: "{}" }
    response.writeHead(status, { "content-type": "application/json", "retry-after": "1" }).end(body)
  })
let before = 0
/** What has come in this test. */
const received = () => receiver.received.slice(before)

const told: string[] = []
const tell = (...words: unknown[]): void => void told.push(words.join(" "))
beforeEach(() => {
  told.length = 0
  before = receiver.received.length
  answerBy()
  diag.setLogger(
    { error: tell, warn: tell, info: () => {}, debug: () => {}, verbose: () => {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
})
let collector: Collector | undefined
afterEach(() => collector?.stop())

const json = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }
const metrics = { resource: resourceFromAttributes({ "service.name": "svc-things" }), scopeMetrics: [] }
const send = (env: Readonly<Record<string, string>>): Promise<ExportResult> => {
  const exporter = (collector = openCollector(env)).metricExporter()
  return new Promise((resolve) => exporter.export(metrics, resolve))
}

test("what is exported arrives as the variables that were given say, compressed and with their headers", async () => {
  const env = { ...json, OTEL_EXPORTER_OTLP_COMPRESSION: "gzip", OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=things" }
  expect(await send(env)).toEqual({ code: ExportResultCode.SUCCESS })
  expect(received()).toMatchObject([{ url: "/v1/metrics", headers: { "x-tenant": "things" } }])
  expect(JSON.parse(gunzipSync(received()[0]?.body ?? "").toString())).toMatchObject({
    resourceMetrics: [{ resource: { attributes: [{ key: "service.name", value: { stringValue: "svc-things" } }] } }],
  })
  expect(told).toEqual([])
})

test("without a word on the protocol it is protobuf", async () => {
  answerBy({ status: 200, body: "" })
  expect(await send({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })).toEqual({ code: ExportResultCode.SUCCESS })
  expect(received()[0]?.headers["content-type"]).toBe("application/x-protobuf")
  expect(received()[0]?.body.includes("svc-things")).toBe(true)
})

test("a collector that is full for a moment is asked again", async () => {
  answerBy({ status: 503, body: "" })
  expect(await send(json)).toEqual({ code: ExportResultCode.SUCCESS })
  expect(received()).toHaveLength(2)
})

test("a refusal is told with its status, and a collector that is away with its address", async () => {
  answerBy({ status: 401, body: "" })
  expect(await send(json)).toMatchObject({ error: new Error("401 Unauthorized") })
  await collector?.stop()
  const away = { ...json, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_EXPORTER_OTLP_TIMEOUT: "50" }
  expect((await send(away)).error?.message).toContain("127.0.0.1:9")
})

test("what a collector refuses of a batch that it takes is told", async () => {
  answerBy({ status: 200, body: '{"partialSuccess":{"rejectedDataPoints":3,"errorMessage":"too old"}}' })
  expect(await send(json)).toEqual({ code: ExportResultCode.SUCCESS })
  expect(told).toEqual([expect.stringContaining("too old")])
})

test.for([
  ["http/json", "<html>"],
  ["http/json", "null"],
  ["http/json", '{"partialSuccess":null}'],
  ["http/protobuf", "<html>"],
  ["http/protobuf", "\n\u00ff"],
])("an answer in %s like %s ends nothing", async ([protocol = "", body = ""]) => {
  answerBy({ status: 200, body })
  expect(await send({ ...json, OTEL_EXPORTER_OTLP_PROTOCOL: protocol })).toEqual({ code: ExportResultCode.SUCCESS })
  expect(told).toHaveLength(body.includes("null") ? 0 : 1)
})

test("a setting that the thread can't use is told", async () => {
  await send({ ...json, OTEL_EXPORTER_OTLP_CERTIFICATE: "/nowhere" })
  expect(told).toEqual(["Failed to read root certificate file"])
})

test("when the thread ends what is under way has failed, and the next export starts another", async () => {
  const exporter = (collector = openCollector(json)).metricExporter()
  const first = new Promise<ExportResult>((resolve) => exporter.export(metrics, resolve))
  await collector.stop()
  expect((await first).error?.message).toContain("has ended")
  const second = new Promise<ExportResult>((resolve) => exporter.export(metrics, resolve))
  expect(await second).toEqual({ code: ExportResultCode.SUCCESS })
})
