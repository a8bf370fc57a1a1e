import { ROOT_CONTEXT, SpanKind, trace, TraceFlags } from "@opentelemetry/api"
import { SamplingDecision } from "@opentelemetry/sdk-trace"
import fc from "fast-check"
import { expect, test } from "vitest"
import { createIds } from "./heads.ts"
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

test("what is said not to be kept is not kept", async () => {
  const digits = fc.string({ minLength: 32, maxLength: 32, unit: fc.constantFrom(..."0123456789abcdef".split("")) })
  // With few digits the number that the ratio is compared with is often small.
  const small = fc.string({ minLength: 32, maxLength: 32, unit: fc.constantFrom("0", "1") })
  const ratios = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 1, 0.01, 1 / 256, 2 ** -32))
  const property = fc.asyncProperty(fc.oneof(digits, small), ratios, async (id, ratio) => {
    const sampler = await createSampler({ OTEL_TRACES_SAMPLER_ARG: String(ratio) })
    const { decision } = sampler.shouldSample(ROOT_CONTEXT, id, "request", SpanKind.SERVER, {}, [])
    if (decision === SamplingDecision.RECORD_AND_SAMPLED) expect(sampler.mayKeep(id)).toBe(true)
  })
  await fc.assert(property, { numRuns: 2000 })
  const sampler = await createSampler({})
  const ids = createIds()
  const kept = Array.from({ length: 10_000 }, () => sampler.mayKeep(ids.generateTraceId())).filter((may) => may)
  expect(kept.length).toBeLessThan(500)
})
