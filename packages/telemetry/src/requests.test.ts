import { context, ROOT_CONTEXT, trace } from "@opentelemetry/api"
import type { Exchange } from "@svc/http"
import { expect, test } from "vitest"
import { carriedSpan, clientSpan, ofNobody } from "./spans.ts"
import { startTelemetry } from "./start.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const traceparent = `00-${traceId}-b7ad6b7169203331-01`

const telemetry = await startTelemetry(
  { telemetry: true, trustedProxies: [{ address: "10.0.0.0", prefix: 8, family: "ipv4" }] },
  {
    env: { OTEL_METRICS_EXPORTER: "none", OTEL_TRACES_EXPORTER: "none", OTEL_TRACES_SAMPLER_ARG: "0" },
    randomId: () => "id",
  },
  { service: "svc-things", version: "1", prometheusPort: 9470, log: { warn: () => {} } },
)

/** Serves a request from an address, and gives what `look` finds in the midst of it. */
const during = <T>(
  remoteAddress: string,
  headers: Readonly<Record<string, string>>,
  look: (made: Exchange) => T,
): T => {
  const made = {
    incoming: { method: "GET", headers, socket: { remoteAddress } },
    outgoing: { route: "/things", statusCode: 200 },
  }
  let found: { readonly value: T } | undefined
  telemetry?.observe(made as unknown as Exchange, (exchange) => {
    found = { value: look(exchange) }
  })
  if (found === undefined) throw new Error("the request was not served")
  return found.value
}
const keptTrace = (): string | undefined => trace.getSpanContext(context.active())?.traceId
const inCall = (): Promise<string | undefined> => clientSpan("call", {}, async () => keptTrace())

test("a proxy's word that a trace is kept counts, a stranger's does not", () => {
  expect(during("10.1.2.3", { traceparent }, keptTrace)).toBe(traceId)
  expect(during("127.0.0.1", { traceparent }, keptTrace)).toBe(traceId)
  expect(during("203.0.113.9", { traceparent }, keptTrace)).toBeUndefined()
  expect(during("203.0.113.9", { traceparent }, ({ outgoing }) => outgoing.traceId)).toBe(traceId)
})

test("nor does a stranger's that is inside a message", async () => {
  const carried = (from: string) =>
    during(from, {}, ({ incoming, outgoing }) =>
      carriedSpan(
        { traceparent },
        () => outgoing.trustsTraces?.(incoming.socket) === true,
        "message",
        async () => trace.getActiveSpan()?.isRecording(),
      ),
    )
  expect(await carried("10.1.2.3")).toBe(true)
  expect(await carried("203.0.113.9")).toBe(false)
})

test("a request whose trace is not kept leaves what came before it, and its calls are in no trace", async () => {
  const nested = during("10.1.2.3", { traceparent }, () => during("10.1.2.3", {}, () => context.active()))
  expect(nested).toBe(ROOT_CONTEXT)
  expect(await during("10.1.2.3", {}, inCall)).toBeUndefined()
  expect(await during("10.1.2.3", { traceparent }, inCall)).toBe(traceId)
  expect(await ofNobody(inCall)).toMatch(/^[0-9a-f]{32}$/)
})
