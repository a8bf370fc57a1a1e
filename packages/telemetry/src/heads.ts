import { randomFillSync } from "node:crypto"
import {
  type Attributes,
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  trace,
  TraceFlags,
  type Tracer,
} from "@opentelemetry/api"
import { type IdGenerator, type Sampler, SamplingDecision } from "@opentelemetry/sdk-trace"
import { withDecision } from "./sampling.ts"

const poolBytes = 4096

/** Random ids, written out many at a time; the next trace's can be given. */
export const createIds = (): IdGenerator & { next: string | undefined } => {
  const bytes = Buffer.alloc(poolBytes)
  let pool = ""
  let at = 0
  const digits = (count: number): string => {
    if (at + count > pool.length) {
      pool = randomFillSync(bytes).toString("hex")
      at = 0
    }
    const id = pool.slice(at, (at += count))
    // All zeros is no id.
    return id.startsWith("00000000") && /^0+$/.test(id) ? digits(count) : id
  }
  return {
    next: undefined,
    generateSpanId: () => digits(16),
    generateTraceId() {
      const given = this.next
      this.next = undefined
      return given ?? digits(32)
    },
  }
}

let spanKey: symbol | undefined
trace.setSpan(
  { ...ROOT_CONTEXT, setValue: (key) => ((spanKey = key), ROOT_CONTEXT) },
  trace.wrapSpanContext({ traceId: "", spanId: "", traceFlags: 0 }),
)

/** A context with a span: what `trace.setSpan` gives, without a copy of the parent's values for each request. */
class RequestContext implements Context {
  readonly #parent: Context
  readonly #span: Span

  constructor(parent: Context, span: Span) {
    this.#parent = parent
    this.#span = span
  }

  getValue(key: symbol): unknown {
    return key === spanKey ? this.#span : this.#parent.getValue(key)
  }

  setValue(key: symbol, value: unknown): Context {
    return trace.setSpan(this.#parent, this.#span).setValue(key, value)
  }

  deleteValue(key: symbol): Context {
    return trace.setSpan(this.#parent, this.#span).deleteValue(key)
  }
}

const none: Attributes = {}

/**
 * Makes what begins requests' spans. Whether a trace is kept is asked once and first: 99 of 100 are not, and theirs is a span
 * context with ids for the log, nothing that is measured or ended.
 */
export const createHeads = (sampler: Sampler, ids: ReturnType<typeof createIds>, tracer: Tracer) => ({
  begin: (parent: Context, attributes: Attributes): Span => {
    const told = trace.getSpanContext(parent)
    const follows = told !== undefined && isSpanContextValid(told)
    const traceId = follows ? told.traceId : ids.generateTraceId()
    const { decision } = sampler.shouldSample(parent, traceId, "request", SpanKind.SERVER, none, [])
    if (decision === SamplingDecision.NOT_RECORD) {
      const own = { traceId, spanId: ids.generateSpanId(), traceFlags: TraceFlags.NONE }
      return trace.wrapSpanContext(told?.traceState === undefined ? own : { ...own, traceState: told.traceState })
    }
    ids.next = follows ? undefined : traceId
    return tracer.startSpan("request", { kind: SpanKind.SERVER, attributes }, withDecision(parent))
  },
  context: (parent: Context, span: Span): Context => new RequestContext(parent, span),
})

export type Heads = ReturnType<typeof createHeads>
