import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api"
import { withDoubt } from "./sampling.ts"

const trusted = createContextKey("the caller's word on sampling counts")

/** A context in which what the caller says of sampling counts. */
export const withTrust = (given: Context): Context => given.setValue(trusted, true)

const ended = async <T>(span: Span, work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    // Only the kind of error: its text may hold what no trace should.
    span.setAttribute("error.type", error instanceof Error ? error.name : typeof error)
    span.setStatus({ code: SpanStatusCode.ERROR })
    throw error
  } finally {
    span.end()
  }
}

/** Runs a call to another system as a span of the request that makes it. Nothing but `work` runs while telemetry is off. */
export const clientSpan = <T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> =>
  trace.getTracer("svc.calls").startActiveSpan(name, { kind: SpanKind.CLIENT, attributes }, (span) => ended(span, work))

/**
 * Runs work as a span whose parent a message names by W3C trace fields of its own, as MCP's `_meta` does; without them as a
 * child of the request.
 */
export const carriedSpan = <T>(
  carrier: Readonly<Record<string, unknown>> | undefined,
  name: string,
  work: () => T | Promise<T>,
): Promise<T> => {
  const active = context.active()
  const told = typeof carrier?.["traceparent"] === "string" ? propagation.extract(active, carrier) : active
  const parent = told === active || active.getValue(trusted) === true ? told : withDoubt(told)
  return trace
    .getTracer("svc.calls")
    .startActiveSpan(name, { kind: SpanKind.SERVER }, parent, (span) => ended(span, work))
}
