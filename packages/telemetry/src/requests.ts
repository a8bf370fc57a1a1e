import { BlockList, isIPv6 } from "node:net"
import {
  type Attributes,
  context,
  isSpanContextValid,
  metrics,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api"
import type { Exchange, TrustedNetwork } from "@svc/http"
import { withDoubt } from "./sampling.ts"
import { withTrust } from "./spans.ts"

/** Called once for each request; serves it by `run`. */
export type RequestObserver = (exchange: Exchange, run: () => void) => void

const methods = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"])

const createTrust = (networks: readonly TrustedNetwork[]): ((address: string | undefined) => boolean) => {
  const list = new BlockList()
  list.addSubnet("127.0.0.0", 8, "ipv4")
  list.addAddress("::1", "ipv6")
  for (const { address, prefix, family } of networks) list.addSubnet(address, prefix, family)
  return (address) => address !== undefined && list.check(address, isIPv6(address) ? "ipv6" : "ipv4")
}

/**
 * Measures requests by the semantic conventions for HTTP servers, and makes a span of each. Of a request it tells the
 * method, the route's pattern and the status: never a path, a query, an address or who asks.
 * @param networks proxies whose word on whether a trace is kept counts, as this machine's own does
 */
export const observeRequests = (networks: readonly TrustedNetwork[]): RequestObserver => {
  const meter = metrics.getMeter("svc.http")
  const tracer = trace.getTracer("svc.http")
  const duration = meter.createHistogram("http.server.request.duration", {
    unit: "s",
    description: "From a request's head to the end of its answer.",
    advice: { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10] },
  })
  // Counted here and read when asked for: an instrument that is told of each request hashes its attributes every time.
  const active = new Map<string, { attributes: Attributes; requests: number }>()
  meter.createObservableUpDownCounter("http.server.active_requests", { unit: "{request}" }).addCallback((result) => {
    for (const { attributes, requests } of active.values()) result.observe(requests, attributes)
  })
  const activeOf = (name: string) => {
    let known = active.get(name)
    if (known === undefined) {
      known = { attributes: { "http.request.method": name, "url.scheme": "http" }, requests: 0 }
      active.set(name, known)
    }
    return known
  }
  const trusts = createTrust(networks)

  return ({ incoming, outgoing }, run) => {
    const began = performance.now()
    const { method = "" } = incoming
    const name = methods.has(method) ? method : "_OTHER"
    const ofMethod = activeOf(name)
    const base = ofMethod.attributes
    ofMethod.requests++
    const trusted = trusts(incoming.socket.remoteAddress)
    const told = propagation.extract(ROOT_CONTEXT, incoming.headers)
    const parent = trusted ? withTrust(told) : told === ROOT_CONTEXT ? told : withDoubt(told)
    const span = tracer.startSpan("request", { kind: SpanKind.SERVER, attributes: base }, parent)
    const spanContext = span.spanContext()
    if (isSpanContextValid(spanContext)) outgoing.traceId = spanContext.traceId
    outgoing.once("close", () => {
      ofMethod.requests--
      const { route, statusCode } = outgoing
      const attributes: Attributes = { ...base, "http.response.status_code": statusCode }
      if (route !== "*") attributes["http.route"] = route
      if (statusCode >= 500) attributes["error.type"] = String(statusCode)
      duration.record((performance.now() - began) / 1000, attributes)
      if (span.isRecording()) {
        span.setAttributes(attributes)
        span.updateName(route === "*" ? name : `${name} ${route}`)
        if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end()
    })
    context.with(trace.setSpan(parent, span), run)
  }
}
