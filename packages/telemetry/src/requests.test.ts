import { context, trace } from "@opentelemetry/api"
import { afterAll, afterEach, beforeEach, expect, test } from "vitest"
import { start, startCollector } from "../test/run.ts"
import { carriedSpan, clientSpan, createWaiters, outsideRequests } from "./spans.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const sampled = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }
const proxy = "10.1.2.3"
const stranger = "203.0.113.9"

const collector = await startCollector()
afterAll(collector.close)
let before = 0
beforeEach(() => void (before = collector.spans().length))
const spans = () => collector.spans().slice(before)
let running: Awaited<ReturnType<typeof start>>
const begin = async (env: Readonly<Record<string, string>> = {}) =>
  (running = await start({ ...collector.env, ...env }))
afterEach(() => running.stop())

const none = { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" }
const isKept = (): boolean => trace.getActiveSpan()?.isRecording() === true

test("the sampled flag counts from a trusted proxy and this machine; a stranger's only sets the trace id", async () => {
  const { serve } = await begin(none)
  expect(await serve(isKept, sampled, proxy)).toBe(true)
  expect(await serve(isKept, sampled)).toBe(true)
  expect(await serve(isKept, sampled, stranger)).toBe(false)
  expect(await serve(({ traceId: own }) => own, sampled, stranger)).toBe(traceId)
})

test("a stranger can neither choose a trace id that is always kept nor keep its own trace out", async () => {
  const low = `00-${"0".repeat(31)}1-b7ad6b7169203331`
  const few = await begin({ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.000001" })
  expect(await few.serve(isKept, { traceparent: `${low}-01` }, proxy)).toBe(true)
  expect(await few.serve(isKept, { traceparent: `${low}-01` }, stranger)).toBe(false)
  await few.stop()
  const { serve } = await begin()
  expect(await serve(isKept, { traceparent: `${low}-00` }, proxy)).toBe(false)
  expect(await serve(isKept, { traceparent: `${low}-00` }, stranger)).toBe(true)
})

test("trace fields inside a message follow the same rule", async () => {
  const { serve } = await begin(none)
  const carried = (from: string) =>
    serve(
      ({ incoming: { socket }, server: { clientAddress } }) =>
        carriedSpan(
          sampled,
          () => clientAddress.trustsTraces(socket.remoteAddress),
          "message",
          async () => isKept(),
        ),
      {},
      from,
    )
  expect(await carried(proxy)).toBe(true)
  expect(await carried(stranger)).toBe(false)
})

test("calls of an unsampled request create no spans, and calls outside of requests start traces", async () => {
  const { serve, stop } = await begin(none)
  const call = (name: string) => clientSpan(name, {}, async () => isKept())
  expect(await serve(() => call("dropped"))).toBe(false)
  expect(await serve(() => call("kept"), sampled)).toBe(true)
  await stop()
  expect(spans().map(({ name }) => name)).toEqual(["kept", "GET /things"])

  const { serve: serveAll, stop: stopAll } = await begin()
  await serveAll(() => outsideRequests(() => call("delivery")), sampled)
  await stopAll()
  const delivery = spans().find(({ name }) => name === "delivery")
  expect(delivery?.parentSpanId ?? "").toBe("")
  expect(delivery?.traceId).not.toBe(traceId)
})

test("a call shared by several requests belongs to the first sampled one and links the others", async () => {
  const { serve, stop } = await begin()
  const waiters = createWaiters()
  const waitWith = (last: string, flag: string) => ({
    traceparent: `00-${traceId.slice(0, -1)}${last}-b7ad6b7169203331-${flag}`,
  })
  for (const headers of [waitWith("a", "00"), waitWith("b", "01"), waitWith("c", "01")])
    await serve(waiters.add, headers)
  await waiters.run(() => clientSpan("query", {}, async () => {}))
  await stop()
  const query = spans().find(({ name }) => name === "query")
  expect(query?.traceId.at(-1)).toBe("b")
  expect(query?.links.map((link) => link.traceId.at(-1))).toEqual(["c"])
})

test("the duration of an event stream ends where its response begins: it is open for as long as its client likes", async () => {
  const { serve, stop } = await begin()
  await serve((exchange) => (exchange.streamsSince = performance.now() + 3_600_000))
  await stop()
  expect(/"name":"http.server.request.duration".*"sum":(36\d\d)\./.exec(collector.metrics())).not.toBeNull()
})

test("a 5xx response is an error on the request's span, and a 404 isn't", async () => {
  const { serve, stop } = await begin()
  for (const status of [404, 503]) await serve(() => {}, {}, proxy, status)
  await stop()
  expect(spans().map(({ status, attributes }) => [status.code, attributes["error.type"]])).toEqual([
    [0, undefined],
    [2, "503"],
  ])
})

test("a failed call is an error on its span, with a status, code or name, and no text of the error", async () => {
  const { stop } = await begin()
  const secret = "https://rpc.example.com/?api-key=hunter2"
  const refused = new TypeError(`fetch failed: ${secret}`, {
    cause: Object.assign(new Error(secret), { code: "ECONNREFUSED" }),
  })
  const status = Object.assign(new Error(secret), { status: 503 })
  const odd = Object.assign(new RangeError(secret), { code: secret })
  for (const error of [refused, status, odd, secret]) {
    const call = clientSpan("call", {}, () => Promise.reject(error as Error))
    await expect(call).rejects.toBe(error)
  }
  await clientSpan("call", {}, async (fail) => fail("429", { "http.response.status_code": 429 }))
  await clientSpan("call", {}, async () => {})
  await stop()
  expect(
    spans().map(({ status: { code }, attributes, events }) => [code, attributes["error.type"], events[0]?.attributes]),
  ).toEqual([
    [2, "ECONNREFUSED", { "exception.type": "ECONNREFUSED" }],
    [2, "503", { "exception.type": "503" }],
    [2, "RangeError", { "exception.type": "RangeError" }],
    [2, "string", { "exception.type": "string" }],
    [2, "429", undefined],
    [0, undefined, undefined],
  ])
  expect(spans()[1]?.attributes["http.response.status_code"]).toBe(503)
  expect(JSON.stringify(spans())).not.toContain("hunter2")
})

test("a request leaves the context that it arrived in", async () => {
  const { serve } = await begin()
  const outer = context.active()
  await serve(() => {})
  expect(context.active()).toBe(outer)
})
