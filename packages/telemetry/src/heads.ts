import { randomFillSync } from "node:crypto"
import {
  type Attributes,
  type Context,
  INVALID_SPAN_CONTEXT,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  trace,
  type Tracer,
} from "@opentelemetry/api"
import { type IdGenerator, SamplingDecision } from "@opentelemetry/sdk-trace"
import { type HeadSampler, withDecision } from "./sampling.ts"

const poolBytes = 4096

/** Random ids, from random bytes that are made many at a time; the next trace's can be given. */
export const createIds = (): IdGenerator & { next: string | undefined } => {
  const pool = Buffer.alloc(poolBytes)
  let at = pool.length
  const digits = (count: number): string => {
    const size = count / 2
    if (at + size > pool.length) {
      randomFillSync(pool)
      at = 0
    }
    const id = pool.toString("hex", at, (at += size))
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

const none: Attributes = {}

/**
 * Makes what begins requests' traces. Whether one is kept is asked once and first: 99 of 100 are not, and theirs is an id for
 * the log, nothing that is measured, ended or carried along.
 */
export const createHeads = (sampler: HeadSampler, ids: ReturnType<typeof createIds>, tracer: Tracer) => {
  const keep = (parent: Context, attributes: Attributes): Span =>
    tracer.startSpan("request", { kind: SpanKind.SERVER, attributes }, withDecision(parent))
  return {
    /** A trace that begins here: its span where it is kept, else its id. */
    begin: (attributes: Attributes): Span | string => {
      const traceId = ids.generateTraceId()
      if (!sampler.mayKeep(traceId)) return traceId
      const { decision } = sampler.shouldSample(ROOT_CONTEXT, traceId, "request", SpanKind.SERVER, none, [])
      if (decision === SamplingDecision.NOT_RECORD) return traceId
      ids.next = traceId
      return keep(ROOT_CONTEXT, attributes)
    },
    /** The same of one that a caller has begun. */
    follow: (parent: Context, attributes: Attributes): Span | string => {
      const { traceId } = trace.getSpanContext(parent) ?? INVALID_SPAN_CONTEXT
      const { decision } = sampler.shouldSample(parent, traceId, "request", SpanKind.SERVER, none, [])
      return decision === SamplingDecision.NOT_RECORD ? traceId : keep(parent, attributes)
    },
  }
}

export type Heads = ReturnType<typeof createHeads>
