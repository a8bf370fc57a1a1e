import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api"
import { withDoubt } from "./sampling.ts"

let on = false

/** Called by `startTelemetry`: until then calls are made and nothing else. */
export const switchOn = (): void => {
  on = true
}

const ended = async <T>(span: Span, work: () => Promise<T>): Promise<T> => {
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

const nobody = ROOT_CONTEXT.setValue(createContextKey("work that is no request's"), true)

/**
 * Whether what runs now is part of a trace that is not kept: what it calls needs no span then. A request whose trace is not kept
 * runs in no context at all.
 */
const isDropped = (active: Context): boolean => {
  if (active === ROOT_CONTEXT) return true
  const own = trace.getSpanContext(active)
  return own !== undefined && own.isRemote !== true && (own.traceFlags & TraceFlags.SAMPLED) === 0
}

const alsoFor = createContextKey("other requests that the same call is for")

/**
 * Runs a call to another system as a span of the request that makes it, or, in the midst of `ofNobody`, as one that begins a
 * trace. Nothing but `work` runs while telemetry is off.
 */
export const clientSpan = <T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> => {
  if (!on) return work()
  const active = context.active()
  if (isDropped(active)) return work()
  const links = active.getValue(alsoFor)
  const options = { kind: SpanKind.CLIENT, attributes, ...(Array.isArray(links) && { links: links as Link[] }) }
  return trace.getTracer("svc.calls").startActiveSpan(name, options, (span) => ended(span, work))
}

/**
 * Runs work that no single request is the cause of, as a batch's delivery or a timer's: calls that it makes, and that its timers
 * and promises make later on, begin traces of their own.
 */
export const ofNobody = <T>(work: () => T): T => context.with(nobody, work)

/**
 * Makes the memory of who waits for a call that several requests share: its spans belong to the first of them whose trace is
 * kept, and link the others.
 */
export const createAskers = () => {
  let asking: Context[] = []
  return {
    /** The request that runs now waits too. */
    add: (): void => {
      const active = context.active()
      const flags = trace.getSpanContext(active)?.traceFlags ?? TraceFlags.NONE
      if ((flags & TraceFlags.SAMPLED) !== 0) asking.push(active)
    },
    /** Does the work for all who were added until now. */
    run: <T>(work: () => T): T => {
      const [first, ...others] = asking
      asking = []
      if (first === undefined) return work()
      const links = others.flatMap((other): Link[] => {
        const spanContext = trace.getSpanContext(other)
        return spanContext === undefined ? [] : [{ context: spanContext }]
      })
      return context.with(first.setValue(alsoFor, links), work)
    },
  }
}

/**
 * Runs work as a span whose parent a message names by W3C trace fields of its own, as MCP's `_meta` does; without them as a
 * child of the request.
 * @param trusts whether the sender's word on what is kept counts
 */
export const carriedSpan = <T>(
  carrier: Readonly<Record<string, unknown>> | undefined,
  trusts: () => boolean,
  name: string,
  work: () => Promise<T>,
): Promise<T> => {
  const active = context.active()
  const tells = typeof carrier?.["traceparent"] === "string"
  if (!tells && isDropped(active)) return work()
  const told = tells ? propagation.extract(active, carrier) : active
  const parent = told === active || trusts() ? told : withDoubt(told)
  return trace
    .getTracer("svc.calls")
    .startActiveSpan(name, { kind: SpanKind.SERVER }, parent, (span) => ended(span, work))
}
