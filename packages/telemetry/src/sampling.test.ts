import { ROOT_CONTEXT, SpanKind, trace, TraceFlags } from "@opentelemetry/api"
import { SamplingDecision } from "@opentelemetry/sdk-trace"
import { expect, test } from "vitest"
import { createSampler, withDoubt } from "./sampling.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const under = (traceFlags: TraceFlags, isRemote: boolean) =>
  withDoubt(trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId: "b7ad6b7169203331", traceFlags, isRemote }))

test("a stranger's word on sampling counts for nothing, and what a request calls is kept where the request is", async () => {
  const kept = async (ratio: string, flags: TraceFlags, isRemote: boolean): Promise<boolean> => {
    const sampler = await createSampler({ OTEL_TRACES_SAMPLER_ARG: ratio })
    const { decision } = sampler.shouldSample(under(flags, isRemote), traceId, "call", SpanKind.CLIENT, {}, [])
    return decision === SamplingDecision.RECORD_AND_SAMPLED
  }
  expect(await kept("0", TraceFlags.SAMPLED, true)).toBe(false)
  expect(await kept("1", TraceFlags.NONE, true)).toBe(true)
  expect(await kept("0", TraceFlags.SAMPLED, false)).toBe(true)
  expect(await kept("1", TraceFlags.NONE, false)).toBe(false)
})
