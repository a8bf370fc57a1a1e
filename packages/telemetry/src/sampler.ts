import { ROOT_CONTEXT, trace } from "@opentelemetry/api"
import * as sdk from "@opentelemetry/sdk-trace"
import type { Settings } from "./settings.ts"
import { hasUntrustedParent } from "./spans.ts"

const rootOf = ({ sampler, ratio }: Pick<Settings, "sampler" | "ratio">): sdk.Sampler => {
  if (sampler.endsWith("always_on")) return new sdk.AlwaysOnSampler()
  if (sampler.endsWith("always_off")) return new sdk.AlwaysOffSampler()
  return new sdk.TraceIdRatioBasedSampler(ratio)
}

/** The sampler that OTEL_TRACES_SAMPLER names. An untrusted caller's flag and trace id don't influence it. */
export const createSampler = (settings: Pick<Settings, "sampler" | "ratio">): sdk.Sampler => {
  const root = rootOf(settings)
  const named = settings.sampler.startsWith("parentbased_") ? new sdk.ParentBasedSampler({ root }) : root
  const ids = new sdk.RandomIdGenerator()
  return {
    shouldSample: (context, traceId, ...rest) =>
      // Only the request's own span has a remote parent; spans below it follow that span.
      hasUntrustedParent(context) && trace.getSpanContext(context)?.isRemote === true
        ? // A caller can choose a trace id that the ratio always keeps, so the decision uses another one.
          root.shouldSample(ROOT_CONTEXT, ids.generateTraceId(), ...rest)
        : named.shouldSample(context, traceId, ...rest),
    toString: () => named.toString(),
  }
}
