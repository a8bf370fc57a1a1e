import * as otel from "@opentelemetry/api"

const untrusted = otel.createContextKey("the parent comes from an untrusted caller")

/** Marks a context whose parent comes from an untrusted caller, whose sampled flag must not decide about sampling. */
export const withUntrustedParent = (context: otel.Context): otel.Context => context.setValue(untrusted, true)

export const hasUntrustedParent = (context: otel.Context): boolean => context.getValue(untrusted) === true

let on = false

/** Called by `startTelemetry`. Before that, only the work itself runs. */
export const switchOn = (): void => {
  on = true
}

/** Marks a call as failed if its work doesn't throw. `type` is a status, a code or a name, never free text. */
export type Fail = (type: string, attributes?: otel.Attributes) => void

const failing =
  (span: otel.Span): Fail =>
  (type, attributes = {}) => {
    span.setAttributes({ ...attributes, "error.type": type })
    span.setStatus({ code: otel.SpanStatusCode.ERROR })
  }

const ignore: Fail = () => {}

const isCode = (value: unknown): value is string => typeof value === "string" && /^[A-Za-z][\w-]{0,60}$/.test(value)

/**
 * An error's HTTP status, else its code or its cause's (ECONNREFUSED), else its name. Spans omit its message and stack, which
 * may contain a URL with a key, an address or user input.
 */
const typeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error
  const { status, code, cause }: { status?: unknown; code?: unknown; cause?: unknown } = error
  if (typeof status === "number") return String(status)
  if (isCode(code)) return code
  return cause instanceof Error && "code" in cause && isCode(cause.code) ? cause.code : error.name
}

const ended = async <T>(span: otel.Span, work: (fail: Fail) => Promise<T>): Promise<T> => {
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

/** Whether the trace of a context's request is sampled, even after its span has ended; undefined outside of requests. */
const isKept = (active: otel.Context): boolean | undefined => {
  const own = otel.trace.getSpanContext(active)
  return own && (own.traceFlags & otel.TraceFlags.SAMPLED) !== 0
}

const sharedWith = otel.createContextKey("other requests that the same call is for")

/**
 * Runs a call to another system in a span of the current request, or in a new trace outside of requests. If the call throws,
 * its span gets an error; work that fails without throwing calls `fail`. While telemetry is off, only `work` runs.
 */
export const clientSpan = <T>(
  name: string,
  attributes: otel.Attributes,
  work: (fail: Fail) => Promise<T>,
): Promise<T> => {
  if (!on) return work(ignore)
  const active = otel.context.active()
  if (isKept(active) === false) return work(ignore)
  const links = active.getValue(sharedWith)
  const options = {
    kind: otel.SpanKind.CLIENT,
    attributes,
    ...(Array.isArray(links) && { links: links as otel.Link[] }),
  }
  return otel.trace.getTracer("svc.calls").startActiveSpan(name, options, (span) => ended(span, work))
}

/** Runs work that belongs to no single request, such as delivering a batch. Its calls begin new traces. */
export const outsideRequests = <T>(work: () => T): T => otel.context.with(otel.ROOT_CONTEXT, work)

/**
 * Collects the requests that wait for one shared call. The call's spans belong to the first of them that is sampled, and link
 * to the others.
 */
export const createWaiters = () => {
  let waiting: otel.Context[] = []
  return {
    /** Adds the current request. */
    add: (): void => {
      const active = otel.context.active()
      if (isKept(active)) waiting.push(active)
    },
    /** Does the work for all requests that have been added. */
    run: <T>(work: () => T): T => {
      const [first, ...others] = waiting
      waiting = []
      // No waiting request is sampled, so the call isn't either.
      if (first === undefined) return work()
      const links = others.flatMap((other): otel.Link[] => {
        const spanContext = otel.trace.getSpanContext(other)
        return spanContext === undefined ? [] : [{ context: spanContext }]
      })
      return otel.context.with(first.setValue(sharedWith, links), work)
    },
  }
}

/**
 * Runs work in a span whose parent comes from W3C trace fields in a message, such as MCP's `_meta`; without such fields the
 * parent is the request.
 * @param trusts whether the sender's sampled flag counts
 */
export const carriedSpan = <T>(
  carrier: Readonly<Record<string, unknown>> | undefined,
  trusts: () => boolean,
  name: string,
  work: () => Promise<T>,
): Promise<T> => {
  if (!on) return work()
  const active = otel.context.active()
  const isNamed = typeof carrier?.["traceparent"] === "string"
  if (!isNamed && isKept(active) === false) return work()
  const extracted = isNamed ? otel.propagation.extract(active, carrier) : active
  const parent = extracted === active || trusts() ? extracted : withUntrustedParent(extracted)
  return otel.trace
    .getTracer("svc.calls")
    .startActiveSpan(name, { kind: otel.SpanKind.SERVER }, parent, (span) => ended(span, work))
}
