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
import { withUntrustedParent } from "./trust.ts"

let on = false

/** Called by `startTelemetry`: until then only the work itself runs. */
export const switchOn = (): void => {
  on = true
}

/** Says of a call that it failed, where its work does not throw. `type` is a status, a code or a name, never free text. */
export type Fail = (type: string, attributes?: Attributes) => void

const failing =
  (span: Span): Fail =>
  (type, attributes = {}) => {
    span.setAttributes({ ...attributes, "error.type": type })
    span.setStatus({ code: SpanStatusCode.ERROR })
  }

const ignore: Fail = () => {}

const isCode = (value: unknown): value is string => typeof value === "string" && /^[A-Za-z][\w-]{0,60}$/.test(value)

/**
 * An error's HTTP status, else its code or its cause's (ECONNREFUSED), else its name. Its message and stack may hold a URL with
 * a key, an address or what a user sent, so they stay out of spans.
 */
const typeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error
  const { status, code, cause }: { status?: unknown; code?: unknown; cause?: unknown } = error
  if (typeof status === "number") return String(status)
  if (isCode(code)) return code
  return cause instanceof Error && "code" in cause && isCode(cause.code) ? cause.code : error.name
}

const ended = async <T>(span: Span, work: (fail: Fail) => Promise<T>): Promise<T> => {
  const fail = failing(span)
  try {
    return await work(fail)
  } catch (error) {
    const type = typeOf(error)
    const status = /^\d/.test(type) ? { "http.response.status_code": Number(type) } : {}
    span.recordException({ name: type })
    fail(type, status)
    throw error
  } finally {
    span.end()
  }
}

/** Whether the trace of a context's request is kept, for calls that outlive its span too; undefined outside of requests. */
const isKept = (active: Context): boolean | undefined => {
  const own = trace.getSpanContext(active)
  return own && (own.traceFlags & TraceFlags.SAMPLED) !== 0
}

const sharedWith = createContextKey("other requests that the same call is for")

/**
 * Runs a call to another system as a span of the request that makes it; outside of requests it begins a trace. A call that
 * throws is an error on its span; one that fails without throwing says so by `fail`. While telemetry is off only `work` runs.
 */
export const clientSpan = <T>(name: string, attributes: Attributes, work: (fail: Fail) => Promise<T>): Promise<T> => {
  if (!on) return work(ignore)
  const active = context.active()
  if (isKept(active) === false) return work(ignore)
  const links = active.getValue(sharedWith)
  const options = { kind: SpanKind.CLIENT, attributes, ...(Array.isArray(links) && { links: links as Link[] }) }
  return trace.getTracer("svc.calls").startActiveSpan(name, options, (span) => ended(span, work))
}

/** Runs work that belongs to no single request, such as delivering a batch: calls that it makes begin traces of their own. */
export const outsideRequests = <T>(work: () => T): T => context.with(ROOT_CONTEXT, work)

/**
 * Remembers the requests that wait for one shared call. Its spans belong to the first of them whose trace is kept, and link
 * the others.
 */
export const createWaiters = () => {
  let waiting: Context[] = []
  return {
    /** The current request waits too. */
    add: (): void => {
      const active = context.active()
      if (isKept(active)) waiting.push(active)
    },
    /** Does the work for all that were added until now. */
    run: <T>(work: () => T): T => {
      const [first, ...others] = waiting
      waiting = []
      // Without a kept trace the call runs in the context of whichever request came first: nothing of it is kept either.
      if (first === undefined) return work()
      const links = others.flatMap((other): Link[] => {
        const spanContext = trace.getSpanContext(other)
        return spanContext === undefined ? [] : [{ context: spanContext }]
      })
      return context.with(first.setValue(sharedWith, links), work)
    },
  }
}

/**
 * Runs work as a span whose parent is named by W3C trace fields in a message, as MCP's `_meta` has them; without such fields
 * as a child of the request.
 * @param trusts whether the sender's sampled flag counts
 */
export const carriedSpan = <T>(
  carrier: Readonly<Record<string, unknown>> | undefined,
  trusts: () => boolean,
  name: string,
  work: () => Promise<T>,
): Promise<T> => {
  if (!on) return work()
  const active = context.active()
  const isNamed = typeof carrier?.["traceparent"] === "string"
  if (!isNamed && isKept(active) === false) return work()
  const extracted = isNamed ? propagation.extract(active, carrier) : active
  const parent = extracted === active || trusts() ? extracted : withUntrustedParent(extracted)
  return trace
    .getTracer("svc.calls")
    .startActiveSpan(name, { kind: SpanKind.SERVER }, parent, (span) => ended(span, work))
}
