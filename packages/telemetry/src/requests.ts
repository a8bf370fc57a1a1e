import { BlockList, isIPv6, type Socket } from "node:net"
import { type Attributes, context, metrics, propagation, ROOT_CONTEXT, SpanStatusCode } from "@opentelemetry/api"
import type { Exchange, TrustedNetwork } from "@svc/http"
import type { Heads } from "./heads.ts"
import { withDoubt } from "./sampling.ts"
import { withTrust } from "./spans.ts"

/** Called once for each request; serves it by `run`. */
export type RequestObserver = (exchange: Exchange, run: () => void) => void

const methods = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"])

const createTrust = (networks: readonly TrustedNetwork[]): ((socket: Socket) => boolean) => {
  const list = new BlockList()
  list.addSubnet("127.0.0.0", 8, "ipv4")
  list.addAddress("::1", "ipv6")
  for (const { address, prefix, family } of networks) list.addSubnet(address, prefix, family)
  const judge = (address: string | undefined): boolean =>
    address !== undefined && list.check(address, isIPv6(address) ? "ipv6" : "ipv4")
  const judged = new WeakMap<Socket, boolean>()
  return (socket) => {
    let trusted = judged.get(socket)
    if (trusted === undefined) judged.set(socket, (trusted = judge(socket.remoteAddress)))
    return trusted
  }
}

const trustedRoot = withTrust(ROOT_CONTEXT)

/**
 * Measures requests by the semantic conventions for HTTP servers, and makes a span of each. Of a request it tells the
 * method, the route's pattern and the status: never a path, a query, an address or who asks.
 * @param networks proxies whose word on whether a trace is kept counts, as this machine's own does
 */
export const observeRequests = (networks: readonly TrustedNetwork[], heads: Heads): RequestObserver => {
  const meter = metrics.getMeter("svc.http")
  const duration = meter.createHistogram("http.server.request.duration", {
    unit: "s",
    description: "From a request's head to the end of its answer.",
    advice: { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10] },
  })
  // Counted here and read when asked for.
  const active = new Map<string, { readonly attributes: Attributes; requests: number }>()
  meter.createObservableUpDownCounter("http.server.active_requests", { unit: "{request}" }).addCallback((result) => {
    for (const { attributes, requests } of active.values()) result.observe(requests, attributes)
  })
  const activeOf = (method: string) => {
    const name = methods.has(method) ? method : "_OTHER"
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
    const ofMethod = activeOf(incoming.method ?? "")
    const base = ofMethod.attributes
    ofMethod.requests++
    const trusted = trusts(incoming.socket)
    const told = propagation.extract(ROOT_CONTEXT, incoming.headers)
    const isNew = told === ROOT_CONTEXT
    const parent = trusted ? (isNew ? trustedRoot : withTrust(told)) : isNew ? told : withDoubt(told)
    const span = heads.begin(parent, base)
    outgoing.traceId = span.spanContext().traceId
    outgoing.onClose = () => {
      ofMethod.requests--
      const { route, statusCode } = outgoing
      const attributes: Attributes = { ...base, "http.response.status_code": statusCode }
      if (route !== "*") attributes["http.route"] = route
      if (statusCode >= 500) attributes["error.type"] = String(statusCode)
      duration.record((performance.now() - began) / 1000, attributes)
      if (!span.isRecording()) return
      span.setAttributes(attributes)
      const method = base["http.request.method"]
      const name = method === "_OTHER" ? "HTTP" : String(method)
      span.updateName(route === "*" ? name : `${name} ${route}`)
      if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    }
    context.with(heads.context(parent, span), run)
  }
}
