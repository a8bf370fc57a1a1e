import * as otel from "@opentelemetry/api"
import type { Exchange } from "@svc/http"
import { withUntrustedParent } from "./spans.ts"

const methods = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"])

/**
 * Measures requests by the semantic conventions for HTTP servers, and makes a span of each. Attributes name the method, the
 * route's pattern and the status: never a path, a query, an address or an identity.
 */
export const observeRequests = () => {
  const meter = otel.metrics.getMeter("svc.http")
  const tracer = otel.trace.getTracer("svc.http")
  const active = meter.createUpDownCounter("http.server.active_requests", { unit: "{request}" })
  const duration = meter.createHistogram("http.server.request.duration", {
    unit: "s",
    description: "From a request's head to the end of its response; of an event stream to its start.",
    advice: { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10] },
  })

  return (exchange: Exchange, serve: (exchange: Exchange) => void): void => {
    const { incoming, outgoing, server } = exchange
    const began = performance.now()
    const { method: sent = "" } = incoming
    const method = methods.has(sent) ? sent : "_OTHER"
    const known: otel.Attributes = { "http.request.method": method, "url.scheme": "http" }
    active.add(1, known)
    const extracted = otel.propagation.extract(otel.ROOT_CONTEXT, incoming.headers)
    const isOwn = extracted === otel.ROOT_CONTEXT
    const isTrusted = isOwn || server.clientAddress.trustsTraces(incoming.socket.remoteAddress)
    const parent = isTrusted ? extracted : withUntrustedParent(extracted)
    const name = method === "_OTHER" ? "HTTP" : method
    const span = tracer.startSpan(name, { kind: otel.SpanKind.SERVER }, parent)
    exchange.traceId = span.spanContext().traceId
    outgoing.once("close", () => {
      const { route, streamsSince: until = performance.now() } = exchange
      const { statusCode: status } = outgoing
      active.add(-1, known)
      const attributes: otel.Attributes = { ...known, "http.response.status_code": status }
      if (route !== "*") attributes["http.route"] = route
      if (status >= 500) attributes["error.type"] = String(status)
      duration.record((until - began) / 1000, attributes)
      if (!span.isRecording()) return
      span.setAttributes(attributes)
      if (route !== "*") span.updateName(`${name} ${route}`)
      if (status >= 500) span.setStatus({ code: otel.SpanStatusCode.ERROR })
      span.end()
    })
    otel.context.with(otel.trace.setSpan(parent, span), serve, undefined, exchange)
  }
}
