import { BlockList, isIPv6, type Socket } from "node:net"
import {
  type Attributes,
  type Context,
  context,
  metrics,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api"
import type { Exchange, TrustedNetwork } from "@svc/http"
import type { Heads } from "./heads.ts"
import type { Meters } from "./meters.ts"
import { withDoubt } from "./sampling.ts"

/** Called once for each request, which it has served. */
export type RequestObserver = (exchange: Exchange, serve: (exchange: Exchange) => void) => void

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

const durationOptions = {
  unit: "s",
  description: "From a request's head to the end of its answer.",
  advice: { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10] },
}

/** Looks a value up that is made once for each route and status. */
const perAnswer = <T>(make: (route: string, status: number) => T): ((route: string, status: number) => T) => {
  const routes = new Map<string, Map<number, T>>()
  return (route, status) => {
    let statuses = routes.get(route)
    if (statuses === undefined) routes.set(route, (statuses = new Map()))
    let known = statuses.get(status)
    if (known === undefined) statuses.set(status, (known = make(route, status)))
    return known
  }
}

/**
 * Measures requests by the semantic conventions for HTTP servers, and makes a span of each whose trace is kept. Of a request it
 * tells the method, the route's pattern and the status: never a path, a query, an address or who asks.
 * @param networks proxies whose word on whether a trace is kept counts, as this machine's own does
 */
export const observeRequests = (
  networks: readonly TrustedNetwork[],
  heads: Heads,
  histogram: Meters["histogram"],
): RequestObserver => {
  const durationOf = histogram("svc.http", "http.server.request.duration", durationOptions)
  const trusts = createTrust(networks)

  const createMethod = (method: string) => {
    const base: Attributes = { "http.request.method": method, "url.scheme": "http" }
    const ofAnswer = perAnswer((route, status) => {
      const attributes: Attributes = { ...base, "http.response.status_code": status }
      if (route !== "*") attributes["http.route"] = route
      if (status >= 500) attributes["error.type"] = String(status)
      const name = method === "_OTHER" ? "HTTP" : method
      return { attributes, name: route === "*" ? name : `${name} ${route}`, record: durationOf(attributes) }
    })
    return { base, ofAnswer, active: 0 }
  }
  const known = new Map<string, ReturnType<typeof createMethod>>()
  const learnMethod = (given: string): ReturnType<typeof createMethod> => {
    const name = methods.has(given) ? given : "_OTHER"
    const method = known.get(name) ?? createMethod(name)
    known.set(name, method)
    return method
  }
  // Counted here and read when asked for.
  const active = metrics.getMeter("svc.http").createObservableUpDownCounter("http.server.active_requests", {
    unit: "{request}",
  })
  active.addCallback((result) => {
    for (const method of known.values()) result.observe(method.active, method.base)
  })

  const begin = (parent: Context, socket: Socket, base: Attributes): Span | string =>
    parent === ROOT_CONTEXT ? heads.begin(base) : heads.follow(trusts(socket) ? parent : withDoubt(parent), base)

  return (exchange, serve) => {
    const { incoming, outgoing } = exchange
    const began = performance.now()
    const { method: name = "" } = incoming
    const method = known.get(name) ?? learnMethod(name)
    method.active++
    const { headers, socket } = incoming
    const parent = headers["traceparent"] === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, headers)
    const head = begin(parent, socket, method.base)
    const span = typeof head === "string" ? undefined : head
    outgoing.traceId = typeof head === "string" ? head : head.spanContext().traceId
    outgoing.trustsTraces = trusts
    outgoing.onClose = () => {
      method.active--
      const answer = method.ofAnswer(outgoing.route, outgoing.statusCode)
      answer.record((performance.now() - began) / 1000)
      if (span === undefined) return
      span.setAttributes(answer.attributes)
      span.updateName(answer.name)
      if (outgoing.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    }
    const own = span === undefined ? ROOT_CONTEXT : trace.setSpan(parent, span)
    if (context.active() === own) serve(exchange)
    else context.with(own, serve, undefined, exchange)
  }
}
