import type { Meter } from "@opentelemetry/api"
import { carriedSpan } from "@svc/telemetry"
import type { RpcRequest } from "@svc/mcp"
import { type Caller, eraOf, type RpcAnswer } from "./mcp/sdk.ts"
import type { Search } from "./search/search.ts"

type AnswerCaller = (request: Omit<RpcRequest, "id">, caller: Caller) => Promise<RpcAnswer>

const methods = new Set(
  "initialize ping server/discover tools/list tools/call resources/list resources/read prompts/list prompts/get".split(
    " ",
  ),
).add("subscriptions/listen")

/** The server's instruments. Their attributes come from short fixed lists: never a query or a client. */
export const createMetrics = (meter: Meter) => {
  const requests = meter.createCounter("svc.docs.mcp.requests", {
    description: "JSON-RPC requests to the MCP endpoint.",
  })
  const searches = meter.createCounter("svc.docs.searches", {
    description: "Searches that were run; a repeated one is served from memory.",
  })
  const duration = meter.createHistogram("svc.docs.search.duration", {
    unit: "s",
    advice: { explicitBucketBoundaries: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25] },
  })
  // Start at 0: a series that begins with its first event has no rate.
  for (const outcome of ["found", "corrected", "nothing"]) searches.add(0, { outcome })
  return {
    /** Shows whether the registry could be read last time: 1 or 0. */
    observePlatform: (isAnswering: () => boolean | undefined): void => {
      meter
        .createObservableGauge("svc.docs.platform.answering", {
          description: "1 while the platform's registry can be read, else 0.",
        })
        .addCallback((result) => {
          const answering = isAnswering()
          if (answering !== undefined) result.observe(answering ? 1 : 0)
        })
    },

    observeStreams: (open: () => number): void => {
      meter
        .createObservableGauge("svc.docs.streams", { description: "Event streams that are open." })
        .addCallback((result) => result.observe(open()))
    },

    /** Wraps a search to record its duration and outcome. */
    measureSearch:
      (search: Search): Search =>
      (...asked) => {
        const began = performance.now()
        const found = search(...asked)
        duration.record((performance.now() - began) / 1000)
        searches.add(1, {
          outcome: found.total === 0 ? "nothing" : found.corrected !== undefined ? "corrected" : "found",
        })
        return found
      },

    /** Wraps the MCP endpoint to record a count and a span for each request. Trace fields in `_meta` name the parent. */
    measureAnswers:
      (answer: AnswerCaller): AnswerCaller =>
      (request, caller) => {
        const method = methods.has(request.method) ? request.method : "other"
        requests.add(1, { method, era: eraOf(request, caller) })
        const meta: unknown = request.params?.["_meta"]
        const carrier = typeof meta === "object" && meta !== null ? { ...meta } : undefined
        return carriedSpan(carrier, caller.trustsTraces, `mcp ${method}`, () => answer(request, caller))
      },
  }
}
